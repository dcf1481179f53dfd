// The line of requests that wait for memory, with their deadlines: first come, first served within a peer, and
// between peers in the order of their turns.
//
// Turn: a request comes up as if it had arrived later than it did, by one second for every share of the budget
//       that its peer holds, already waits for and asks for now, at most kMaxDelay. So whoever holds and wants
//       little goes before those who hold and want much, a second request of a peer goes behind the first one
//       of the others, and nobody waits behind newcomers for ever. A turn is settled on arrival.
//
// Threads: none of its own; the store's lock guards it.

#ifndef POSENC_SERVER_TABLES_STORE_ADMISSION_QUEUE_H_
#define POSENC_SERVER_TABLES_STORE_ADMISSION_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "server/tables/store/request.h"

namespace posenc {

class AdmissionQueue {
 public:
  static constexpr absl::Duration kMaxDelay = absl::Seconds(10);

  bool empty() const { return line_.empty(); }
  int64_t size() const { return static_cast<int64_t>(line_.size()); }
  const RequestPtr& front() const { return line_.begin()->second; }

  // Bytes that all who wait need together.
  size_t waiting_bytes() const { return waiting_bytes_; }

  std::shared_ptr<PeerAccount> AccountOf(const PeerId& peer) { return peers_.Of(peer); }

  // `limit_bytes`: of the budget. Requires: the request's account and missing_bytes are set.
  void Push(RequestPtr request, absl::Time now, size_t limit_bytes) {
    PeerAccount& peer = *request->account;
    request->stage = Request::Stage::kInLine;
    request->in_line_since = now;
    request->line_bytes = request->missing_bytes;
    waiting_bytes_ += request->line_bytes;
    peer.waiting_bytes += request->line_bytes;
    const size_t wanted = peer.held_bytes + peer.waiting_bytes;
    const double shares = static_cast<double>(wanted) / static_cast<double>(peers_.ShareOf(limit_bytes));
    // Within a peer the order of arrival stands, whatever it has let go of meanwhile.
    peer.last_turn = std::max(now + std::min(absl::Seconds(shares), kMaxDelay), peer.last_turn);
    request->turn = {peer.last_turn, ++arrivals_};
    deadlines_.emplace(request->deadline, request.get());
    line_.emplace(request->turn, std::move(request));
  }

  // Takes a request out of the line, wherever it stands. Requires: it is in line.
  RequestPtr Take(Request& request) {
    deadlines_.erase({request.deadline, &request});
    waiting_bytes_ -= request.line_bytes;
    PeerAccount& peer = *request.account;
    peer.waiting_bytes -= request.line_bytes;
    if (peer.waiting_bytes == 0) peer.last_turn = absl::InfinitePast();
    const auto place = line_.find(request.turn);
    RequestPtr taken = std::move(place->second);
    line_.erase(place);
    return taken;
  }

  absl::Time next_deadline() const {
    return deadlines_.empty() ? absl::InfiniteFuture() : deadlines_.begin()->first;
  }
  // Returns the request whose deadline is next. Requires: not empty.
  Request& next_to_expire() const { return *deadlines_.begin()->second; }

 private:
  PeerAccounts peers_;
  uint64_t arrivals_ = 0;
  size_t waiting_bytes_ = 0;
  absl::btree_map<Request::Turn, RequestPtr> line_;
  absl::btree_set<std::pair<absl::Time, Request*>> deadlines_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_ADMISSION_QUEUE_H_

// The line of requests that wait for memory, first come, first served, with their deadlines.
//
// Threads: none of its own; the store's lock guards it.

#ifndef POSENC_SERVER_TABLES_STORE_ADMISSION_QUEUE_H_
#define POSENC_SERVER_TABLES_STORE_ADMISSION_QUEUE_H_

#include <cstdint>
#include <iterator>
#include <list>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "server/tables/store/request.h"

namespace posenc {

class AdmissionQueue {
 public:
  bool empty() const { return line_.empty(); }
  int64_t size() const { return static_cast<int64_t>(line_.size()); }
  const RequestPtr& front() const { return line_.front(); }

  void Push(RequestPtr request, absl::Time now) {
    request->stage = Request::Stage::kInLine;
    request->in_line_since = now;
    deadlines_.emplace(request->deadline, request.get());
    line_.push_back(std::move(request));
    line_.back()->position = std::prev(line_.end());
  }

  // Takes a request out of the line, wherever it stands. Requires: it is in line.
  RequestPtr Take(Request& request) {
    deadlines_.erase({request.deadline, &request});
    RequestPtr taken = std::move(*request.position);
    line_.erase(request.position);
    return taken;
  }

  absl::Time next_deadline() const {
    return deadlines_.empty() ? absl::InfiniteFuture() : deadlines_.begin()->first;
  }
  // Returns the request whose deadline is next. Requires: not empty.
  Request& next_to_expire() const { return *deadlines_.begin()->second; }

 private:
  std::list<RequestPtr> line_;
  absl::btree_set<std::pair<absl::Time, Request*>> deadlines_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_ADMISSION_QUEUE_H_

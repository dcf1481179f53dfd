// What is asked of the store and may have to wait: blocks of a table, or bytes of the budget.
//
// A request is new, then in line for memory (holding nothing), then waiting for its blocks to be built,
// then done; any of the middle steps may be skipped. AdmissionQueue and StoreState move it along.
//
// Threads: all members are guarded by the store's lock, except in Finish: once a request is done it
// belongs to the thread that finishes it.

#ifndef POSENC_SERVER_TABLES_STORE_REQUEST_H_
#define POSENC_SERVER_TABLES_STORE_REQUEST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/tables/memory/block_memory.h"
#include "server/tables/memory/budget.h"
#include "server/tables/memory/cached_block.h"
#include "server/tables/memory/peer_accounts.h"
#include "server/tables/store/table_store.h"

namespace posenc {

class Request;
struct FetchRequest;
struct ReserveRequest;
using RequestPtr = std::shared_ptr<Request>;

// The store as its requests see it.
class RequestOwner : public LeaseTaker {
 public:
  virtual void CancelRequest(Request& request) = 0;
};

class Request : public FetchTicket, public std::enable_shared_from_this<Request> {
 public:
  enum class Stage : uint8_t { kNew, kInLine, kBuilding, kDone };

  using Turn = std::pair<absl::Time, uint64_t>;  // and then by arrival
  Request(std::weak_ptr<RequestOwner> owner, PeerId peer, absl::Time deadline)
      : peer(std::move(peer)), deadline(deadline), owner_(std::move(owner)) {}

  void Cancel() override {
    if (const auto owner = owner_.lock()) owner->CancelRequest(*this);
  }

  // Calls back. Without locks, once, when the stage is kDone.
  virtual void Finish(absl::Status status) = 0;

  virtual FetchRequest* AsFetch() { return nullptr; }
  virtual ReserveRequest* AsReserve() { return nullptr; }

  const PeerId peer;
  const absl::Time deadline;  // of the wait for memory
  Stage stage = Stage::kNew;
  size_t missing_bytes = 0;  // what admission would have to reserve now
  std::shared_ptr<PeerAccount> account;  // from Submit until it is done
  PeerCharge charged;                    // what it was admitted with, likewise
  absl::Time in_line_since;
  size_t line_bytes = 0;  // missing then
  Turn turn;

 protected:
  std::shared_ptr<RequestOwner> owner() const { return owner_.lock(); }

 private:
  const std::weak_ptr<RequestOwner> owner_;
};

// Blocks [first_block, last_block] of a table.
struct FetchRequest final : Request {
  FetchRequest(std::weak_ptr<RequestOwner> owner, PeerId peer, TablePtr table, int64_t first_block,
               int64_t last_block, absl::Time deadline, TableStore::BlocksCallback done)
      : Request(std::move(owner), std::move(peer), deadline),
        table(std::move(table)),
        first_block(first_block),
        last_block(last_block),
        done(std::move(done)) {}

  void Finish(absl::Status status) override;
  FetchRequest* AsFetch() override { return this; }

  TablePtr table;  // null once done
  const int64_t first_block;
  const int64_t last_block;
  CachedBlocks blocks;  // each held once, null while it is built
  int64_t pending_builds = 0;
  TableStore::BlocksCallback done;
};

// Bytes of the budget; memory comes along if there is a spare piece of that size.
struct ReserveRequest final : Request {
  struct Grant {
    BlockMemory memory;
    PeerCharge held;
  };
  using Callback = std::function<void(absl::StatusOr<Grant>)>;

  ReserveRequest(std::weak_ptr<RequestOwner> owner, PeerId peer, Charge charge, size_t charge_bytes,
                 absl::Time deadline, Callback done)
      : Request(std::move(owner), std::move(peer), deadline), charge(charge), done(std::move(done)) {
    missing_bytes = charge_bytes;
  }

  void Finish(absl::Status status) override;
  ReserveRequest* AsReserve() override { return this; }

  const Charge charge;
  BlockMemory memory;
  Callback done;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_REQUEST_H_

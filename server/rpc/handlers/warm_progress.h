// The producer of WarmTables: warms tables one after the other and writes how far it is.
//
// Threads: progress comes on workers, OnWritten on gRPC's threads. One mutex guards the state; the store
//          and the call are called without it.
// Lifetime: held by the call until the RPC is over, and by the warm-up that is under way.

#ifndef POSENC_SERVER_RPC_HANDLERS_WARM_PROGRESS_H_
#define POSENC_SERVER_RPC_HANDLERS_WARM_PROGRESS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/specs/spec.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/service_context.h"

namespace posenc {

class WarmProgress final : public StreamProducer, public std::enable_shared_from_this<WarmProgress> {
 public:
  WarmProgress(ContextPtr context, std::vector<TableSpec> specs, bool pin,
               std::shared_ptr<StreamCall> call);

  // Warms the first table; all else follows. Called once.
  void Start();

  void OnWritten() override;

 private:
  // How far the warm-up is; `final` when a table is done.
  struct Report {
    TableKey key;
    int64_t blocks_done = 0;
    int64_t blocks_total = 0;
    size_t tables_done = 0;
    bool final = false;
  };

  void WarmNext();
  void WarmOpened(const TablePtr& table, size_t index);
  absl::Status CheckFits(const Table& table);
  void OnTableDone(absl::StatusOr<TablePtr> table);
  void Submit(const Report& report);
  void Write(const Report& report);

  const ContextPtr context_;
  const std::vector<TableSpec> specs_;
  const bool pin_;
  const std::shared_ptr<StreamCall> call_;
  uint64_t unpinned_bytes_ = 0;  // of the tables so far; used by the warm-up under way only
  std::mutex mutex_;
  // Guarded by mutex_:
  size_t tables_done_ = 0;
  bool writing_ = false;
  std::optional<Report> waiting_;  // the latest report that has not been written
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_WARM_PROGRESS_H_

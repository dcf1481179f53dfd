// The store behind its facade: StoreState under one lock, the workers, the alarm for deadlines, and the
// flights of tables that are being opened. It lives until the last lease, buffer or table is let go.
//
// Locks: one mutex, held for bookkeeping only: never while generating, mapping memory, calling back or
//        destroying a table.

#ifndef POSENC_SERVER_TABLES_STORE_STORE_CORE_H_
#define POSENC_SERVER_TABLES_STORE_STORE_CORE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/tables/store/request.h"
#include "server/tables/store/store_state.h"
#include "server/tables/store/table_store.h"
#include "server/tables/threads/alarm.h"
#include "server/tables/threads/mutex.h"
#include "server/tables/threads/worker_pool.h"

namespace posenc {

class StoreCore final : public RequestOwner, public std::enable_shared_from_this<StoreCore> {
 public:
  explicit StoreCore(const TableStoreOptions& options);

  // Where call-backs that became due may run: any on a worker, else only the caller's own request's.
  enum class Caller : uint8_t { kWorker, kOther };

  // Runs `decide(StoreState&, AfterUnlock&)` under the lock, then carries out what it decided.
  template <typename Decide>
  void Do(Caller caller, Decide decide, const Request* own = nullptr) {
    AfterUnlock after;
    {
      MutexLock lock(&mutex_);
      decide(state_, after);
    }
    CarryOut(after, caller, own);
  }

  template <typename Look>
  auto Read(Look look) {
    MutexLock lock(&mutex_);
    return look(static_cast<const StoreState&>(state_));
  }

  void Start(const RequestPtr& request);
  void CancelRequest(Request& request) override;
  void LastHolderLeft(const std::shared_ptr<CachedBlock>& block) override;
  // Returns all blocks of the range if they are resident, else none; `count`: as hits, or misses if they
  // were generated ahead.
  std::vector<BlockPtr> FindResident(const TableKey& key, int64_t first_block, int64_t last_block, bool count);
  void Open(const TableSpec& normalized, TableStore::OpenCallback done);
  TablePtr FindOpen(const TableKey& key);
  absl::StatusOr<BufferPtr> MakeBuffer(size_t size_bytes, absl::StatusOr<BlockMemory> granted);
  void Run(std::function<void()> work) { workers_.Run(std::move(work)); }
  void Shutdown();

 private:
  void CarryOut(AfterUnlock& after, Caller caller, const Request* own);
  void ScheduleAdmission();
  void Build(BlockBuild& build);
  void Refund(Charge charge, size_t bytes);

  // Opening tables (store_opens.cc). `paid_bytes`: what is reserved for the table already.
  void MakeTable(const TableKey& key, const TableSpec& spec, size_t paid_bytes);
  void WaitForTableMemory(const TableKey& key, const TableSpec& spec, size_t charge_bytes);
  TablePtr Charged(std::unique_ptr<const Table> table, size_t charge_bytes);
  void FinishOpen(const TableKey& key, absl::StatusOr<TablePtr> result);

  const TableStoreOptions options_;
  absl::Mutex mutex_;
  StoreState state_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<TableKey, std::vector<TableStore::OpenCallback>> opens_
      ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> admission_scheduled_{false};
  WorkerPool workers_;
  Alarm alarm_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_STORE_CORE_H_

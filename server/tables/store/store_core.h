// The store behind its facade: StoreState under one lock, the workers, the alarm for deadlines and for those
// who observe the line, and the flights of tables that are being opened. It lives until the last lease, buffer or table is let go.
//
// Locks: one mutex, held for bookkeeping only: never while generating, mapping memory, calling back or
//        destroying a table.
// Want of memory: a block or table whose memory the system refuses (std::bad_alloc too) is tried once more after
//        evictable memory was given back; then it fails with ResourceExhausted, and the worker goes on.

#ifndef POSENC_SERVER_TABLES_STORE_STORE_CORE_H_
#define POSENC_SERVER_TABLES_STORE_STORE_CORE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/tables/store/fair_work.h"
#include "server/tables/store/request.h"
#include "server/tables/store/store_state.h"
#include "server/tables/store/table_store.h"
#include "server/tables/threads/alarm.h"
#include "server/tables/threads/mutex.h"
#include "server/tables/threads/worker_pool.h"

namespace posenc {

// A table that is being opened, and all who wait for it. What is not const is guarded by the store's lock.
struct OpenFlight {
  OpenFlight(PeerId peer, TableSpec spec, const TableKey& key)
      : peer(std::move(peer)), spec(std::move(spec)), key(key) {}

  const PeerId peer;  // the first who asked
  const TableSpec spec;
  const TableKey key;
  std::vector<std::pair<int64_t, TableStore::OpenCallback>> waiters;  // numbered
  int64_t last_number = 0;
  std::shared_ptr<FetchTicket> memory;  // the wait for the table's memory
};

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
  // Returns null when it has called back already.
  std::shared_ptr<FetchTicket> Open(const PeerId& peer, const TableSpec& normalized, TableStore::OpenCallback done);
  TablePtr FindOpen(const TableKey& key);
  absl::StatusOr<BufferPtr> MakeBuffer(size_t size_bytes, absl::StatusOr<ReserveRequest::Grant> granted);
  std::shared_ptr<void> WhileSomebodyWaits(TableStore::WaitObserver observer);
  void Run(std::function<void()> work);
  void Shutdown();

 private:
  friend class OpenTicket;
  using FlightPtr = std::shared_ptr<OpenFlight>;

  void CarryOut(AfterUnlock& after, Caller caller, const Request* own);
  void OnAlarm();
  void TellObservers(size_t waiting_bytes);
  void ScheduleAdmission();
  void Build(BlockBuild& build);
  absl::StatusOr<std::shared_ptr<CachedBlock>> Generate(BlockBuild& build, absl::Duration& took);
  void ShedMemory(size_t bytes);
  void Refund(Charge charge, size_t bytes);

  // Opening tables (store_opens.cc). `paid_bytes`: what is reserved for the table already.
  void MakeTable(const FlightPtr& flight, size_t paid_bytes);
  absl::StatusOr<std::unique_ptr<const Table>> NewTable(const TableSpec& spec);
  void WaitForTableMemory(const FlightPtr& flight, size_t charge_bytes);
  TablePtr Charged(std::unique_ptr<const Table> table, size_t charge_bytes);
  void FinishOpen(const FlightPtr& flight, absl::StatusOr<TablePtr> result);
  void LeaveOpen(const FlightPtr& flight, int64_t number);
  bool IsWanted(const OpenFlight& flight);

  const TableStoreOptions options_;
  absl::Mutex mutex_;
  StoreState state_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<TableKey, FlightPtr> opens_ ABSL_GUARDED_BY(mutex_);
  absl::Mutex observers_mutex_;  // held while they run
  std::list<TableStore::WaitObserver> observers_ ABSL_GUARDED_BY(observers_mutex_);
  std::atomic<bool> admission_scheduled_{false};
  WorkerPool workers_;
  FairWork fair_work_{workers_};  // generators and blocks
  Alarm alarm_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_STORE_CORE_H_

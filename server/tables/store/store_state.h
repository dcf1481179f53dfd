// Everything the table store knows and decides, as plain single-threaded code without locks, clock or
// call-backs. StoreCore puts the lock around it and carries out what it says in AfterUnlock.
// Admission: a request is admitted as a whole. At that moment its resident blocks are held, blocks being
//            built are joined, and for the missing ones all bytes are reserved together; so nobody ever
//            holds memory while waiting for memory, and requests cannot lock each other out.
// In line:   the front (AdmissionQueue) is admitted when it fits into free, spare and evictable bytes. Behind it,
//            a request whose missing blocks another builds leaves the line at once (slots' candidates).

#ifndef POSENC_SERVER_TABLES_STORE_STORE_STATE_H_
#define POSENC_SERVER_TABLES_STORE_STORE_STATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/tables/memory/budget.h"
#include "server/tables/memory/spare_memory.h"
#include "server/tables/store/admission_queue.h"
#include "server/tables/store/after_unlock.h"
#include "server/tables/store/eviction_order.h"
#include "server/tables/store/request.h"
#include "server/tables/store/store_stats.h"
#include "server/tables/store/table_record.h"
#include "server/tables/store/table_registry.h"

namespace posenc {

class StoreState {
 public:
  StoreState(size_t limit_bytes, size_t block_bytes);
  // Requests (store_admission.cc). Submit completes, admits or puts in line.
  void Submit(const RequestPtr& request, absl::Time now, AfterUnlock& after);
  void Admit(AfterUnlock& after);  // as many from the front of the line as fit
  // Whether Admit would get anything done: it costs more than to ask.
  bool AdmitPays() const { return FrontFits() || (!queue_.empty() && tables_.has_idle()); }
  // Ends a request that is not done yet: takes it out of the line, or from the builds it waits for.
  void End(Request& request, absl::Status status, AfterUnlock& after);
  void Expire(Request& request, absl::Time now, AfterUnlock& after);
  void ExpireAllDue(absl::Time now, AfterUnlock& after);
  size_t waiting_bytes() const { return queue_.waiting_bytes(); }
  void GenerateAhead(const TablePtr& table, int64_t first_block, int64_t last_block, AfterUnlock& after);
  bool TryReserve(Charge charge, size_t bytes, AfterUnlock& after);  // at once or not at all
  // Builds (store_blocks.cc). A build that was begun is finished or failed.
  bool Begin(BlockBuild& build);
  void Finish(BlockBuild& build, std::shared_ptr<CachedBlock> block, absl::Duration took,
              AfterUnlock& after);
  void Fail(BlockBuild& build, const absl::Status& status, AfterUnlock& after);

  // Blocks and bytes (store_blocks.cc). HoldResident takes hold of all the blocks, or returns none.
  CachedBlocks HoldResident(const TableKey& key, int64_t first_block, int64_t last_block, bool count);
  void LastHolderLeft(CachedBlock& block, AfterUnlock& after);
  void Recycle(Charge charge, BlockMemory memory, AfterUnlock& after);
  void Refund(Charge charge, size_t bytes) { budget_.Remove(charge, bytes); }
  void Shed(size_t bytes, AfterUnlock& after);  // spare and evictable memory, to the system

  // Tables and administration (store_tables.cc).
  TablePtr FindTable(const TableKey& key);
  void Keep(const TablePtr& table, AfterUnlock& after);
  absl::Status Pin(const TablePtr& table, AfterUnlock& after);
  void Unpin(const TableKey& key, AfterUnlock& after);
  absl::StatusOr<EvictionResult> Evict(const TableKey& key, AfterUnlock& after);
  EvictionResult EvictAll(AfterUnlock& after);
  std::vector<TableResidency> ListTables() const;
  StoreStats stats() const;

  // Refuses what comes and ends what waits; then, when nothing is being built any more, lets go of all.
  void Close(AfterUnlock& after);
  void Clear(AfterUnlock& after);
  bool closed() const { return closed_; }

 private:
  absl::Status CheckFitsEver(Request& request) const;
  absl::Status CheckPinLeavesRoom(const Table& table, double bytes) const;
  size_t CountMissing(FetchRequest& fetch) const;
  bool Fits(Request& request) const;
  bool FrontFits() const { return !queue_.empty() && Fits(*queue_.front()); }
  void JoinLine(const RequestPtr& request, absl::Time now, AfterUnlock& after);
  RequestPtr LeaveLine(Request& request, AfterUnlock& after);
  void Complete(RequestPtr request, absl::Status status, AfterUnlock& after);
  void AdmitRequest(const RequestPtr& request, AfterUnlock& after);
  void AdmitFetch(const std::shared_ptr<FetchRequest>& fetch, AfterUnlock& after);
  size_t AvailableBytes() const { return budget_.free_bytes() + spare_.bytes() + order_.bytes(); }
  void StartBuild(BlockSlot& slot, const PeerId& peer, const TablePtr& table, AfterUnlock& after);
  void NoLongerAhead(BlockSlot& slot);
  void AdmitJoiners(const std::vector<BlockSlot*>& begun, AfterUnlock& after);
  void LeaveBuilds(FetchRequest& fetch, AfterUnlock& after);
  BlockMemory Reserve(Charge charge, size_t bytes, AfterUnlock& after);
  void ReserveBytes(Charge charge, size_t bytes, AfterUnlock& after);
  void FreeSpareOrOldest(AfterUnlock& after);
  void Free(Charge charge, BlockMemory memory, AfterUnlock& after);
  void SettleFreed(AfterUnlock& after);
  void CountLookup(BlockSlot& slot);
  std::shared_ptr<CachedBlock> Hold(BlockSlot& slot);
  void DropBuild(BlockSlot& slot, AfterUnlock& after);
  void EvictOldest(AfterUnlock& after);
  BlockMemory Uncache(BlockSlot& slot, AfterUnlock& after);
  void SlotIsMissing(BlockSlot& slot, AfterUnlock& after);
  EvictionResult EvictBlocks(TableRecord& record, AfterUnlock& after);
  EvictionResult EvictRecords(const std::vector<TableRecord*>& records, AfterUnlock& after);
  void SetPin(TableRecord& record, size_t pinned_bytes);

  const size_t block_bytes_;
  const size_t max_spare_bytes_;
  Budget budget_;
  SpareMemory spare_;
  TableRegistry tables_;
  EvictionOrder order_;
  AdmissionQueue queue_;
  size_t pinned_bytes_ = 0;  // of all pinned tables in full, resident or not
  size_t ahead_bytes_ = 0;   // of blocks that were generated ahead, or are to be, and not yet asked for
  int64_t resident_blocks_ = 0;
  bool closed_ = false;
  StoreStats counters_;  // the counters only
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_STORE_STATE_H_

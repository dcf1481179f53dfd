// The part of StoreState that knows tables: keeping, pinning, evicting, listing, and the end.

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/tables/memory/byte_text.h"
#include "server/tables/store/store_state.h"

namespace posenc {
namespace {

// Shares of the budget. Spare memory serves the block that comes next, not a second cache.
constexpr size_t kIdleTablesShare = 8;
constexpr size_t kSpareShare = 16;
constexpr size_t kMaxSpareBytes = size_t{64} << 20;
// What pinned tables must leave to all others: room for a few requests to move.
constexpr size_t kUnpinnedBlocks = 8;
constexpr size_t kUnpinnedShare = 10;

// Bytes of all blocks of a table; a double, as a virtual table may exceed an integer.
double WholeBytes(const Table& table) {
  const int64_t last = table.block_count() - 1;
  return static_cast<double>(last) * static_cast<double>(BlockCharge(table, 0)) +
         static_cast<double>(BlockCharge(table, last));
}

}  // namespace

StoreState::StoreState(size_t limit_bytes, size_t block_bytes)
    : block_bytes_(block_bytes),
      max_spare_bytes_(std::min(limit_bytes / kSpareShare, kMaxSpareBytes)),
      budget_(limit_bytes),
      tables_(limit_bytes / kIdleTablesShare) {}

TablePtr StoreState::FindTable(const TableKey& key) {
  TableRecord* record = tables_.Find(key);
  if (record == nullptr) return nullptr;
  tables_.Touch(*record);
  return record->table;
}

void StoreState::Keep(const TablePtr& table, AfterUnlock& after) {
  tables_.Settle(tables_.Adopt(table), after);
}

absl::Status StoreState::Pin(const TablePtr& table, AfterUnlock& after) {
  if (closed_) return absl::CancelledError("the server is shutting down");
  TableRecord* known = tables_.Find(table->key());
  if (known != nullptr && known->pins > 0) {
    ++known->pins;
    return absl::OkStatus();
  }
  const double bytes = WholeBytes(*table) + static_cast<double>(TableCharge(*table));
  if (absl::Status room = CheckPinLeavesRoom(*table, bytes); !room.ok()) return room;
  TableRecord& record = tables_.Adopt(table);
  record.pins = 1;
  SetPin(record, static_cast<size_t>(bytes));
  tables_.Settle(record, after);
  return absl::OkStatus();
}

absl::Status StoreState::CheckPinLeavesRoom(const Table& table, double bytes) const {
  size_t block = std::max(ChargeFor(block_bytes_), BlockCharge(table, 0));
  for (const auto& [key, record] : tables_.records()) {
    if (record->pinned_bytes > 0) block = std::max(block, BlockCharge(*record->table, 0));
  }
  const size_t room = std::max(kUnpinnedBlocks * block, budget_.limit_bytes() / kUnpinnedShare);
  const double pinned = static_cast<double>(pinned_bytes_);
  const double limit = static_cast<double>(budget_.limit_bytes());
  if (bytes + pinned + static_cast<double>(room) <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "pinning ", ByteText(bytes), " beside the ", ByteText(pinned),
      " that are pinned would leave less than ", ByteText(static_cast<double>(room)),
      " of the memory budget of ", ByteText(limit),
      " to other tables: unpin a table, pin a smaller one, or raise --cache-bytes"));
}

void StoreState::SetPin(TableRecord& record, size_t pinned_bytes) {
  pinned_bytes_ += pinned_bytes - record.pinned_bytes;
  record.pinned_bytes = pinned_bytes;
  for (const auto& [index, slot] : record.slots) order_.Update(*slot);
}

void StoreState::Unpin(const TableKey& key, AfterUnlock& after) {
  TableRecord* record = tables_.Find(key);
  if (record == nullptr || record->pins == 0 || --record->pins > 0) return;
  SetPin(*record, 0);
  tables_.Settle(*record, after);
  after.admit = AdmitPays();
}

EvictionResult StoreState::EvictRecords(const std::vector<TableRecord*>& records, AfterUnlock& after) {
  EvictionResult sum;
  for (TableRecord* record : records) {
    // A table and its shared form are one table.
    const TablePtr origin = record->table->origin();
    const bool counted = origin != nullptr && tables_.Find(origin->key()) != nullptr;
    const EvictionResult one = EvictBlocks(*record, after);
    sum.tables += counted ? 0 : one.tables;
    sum.blocks += one.blocks;
    sum.bytes += one.bytes;
  }
  return sum;
}

absl::StatusOr<EvictionResult> StoreState::Evict(const TableKey& key, AfterUnlock& after) {
  std::vector<TableRecord*> records;
  for (const TableKey& form : {Table::SharedKeyOf(key), key}) {
    TableRecord* record = tables_.Find(form);
    const bool there = record != nullptr && (record->pinned_bytes > 0 || record->resident_blocks > 0);
    if (there) records.push_back(record);
  }
  if (records.empty()) return absl::NotFoundError("no such table is resident or pinned");
  EvictionResult result = EvictRecords(records, after);
  result.tables = 1;
  after.admit = AdmitPays();
  return result;
}

EvictionResult StoreState::EvictAll(AfterUnlock& after) {
  std::vector<TableRecord*> all;
  for (const auto& [key, record] : tables_.records()) {
    if (record->pinned_bytes > 0 || record->resident_blocks > 0) all.push_back(record.get());
  }
  const EvictionResult sum = EvictRecords(all, after);
  tables_.DropIdle(budget_.limit_bytes(), after);
  Shed(spare_.bytes(), after);
  after.admit = AdmitPays();
  return sum;
}

// The record may be gone afterwards.
EvictionResult StoreState::EvictBlocks(TableRecord& record, AfterUnlock& after) {
  const EvictionResult result{1, record.resident_blocks, record.resident_bytes};
  record.pins = 0;
  SetPin(record, 0);
  std::vector<BlockSlot*> resident;
  for (const auto& [index, slot] : record.slots) {
    if (slot->block) resident.push_back(slot.get());
  }
  for (BlockSlot* slot : resident) {
    ++counters_.admin_evictions;
    if (BlockMemory memory = Uncache(*slot, after)) {
      Recycle(Charge::kResident, std::move(memory), after);
    }
    SlotIsMissing(*slot, after);
  }
  if (resident.empty()) tables_.Settle(record, after);
  return result;
}

std::vector<TableResidency> StoreState::ListTables() const {
  std::map<TableKey, TableResidency> by_key;
  for (const auto& [key, record] : tables_.records()) {
    if (record->resident_blocks == 0 && record->pinned_bytes == 0) continue;
    const TablePtr& table = record->table->shared() ? record->table->origin() : record->table;
    TableResidency& residency = by_key[table->key()];
    residency.table = table;
    residency.resident_bytes += record->resident_bytes;
    residency.resident_blocks += record->resident_blocks;
    residency.pinned = residency.pinned || record->pinned_bytes > 0;
  }
  std::vector<TableResidency> list;
  for (auto& [key, residency] : by_key) list.push_back(std::move(residency));
  return list;
}

StoreStats StoreState::stats() const {
  StoreStats stats = counters_;
  stats.limit_bytes = budget_.limit_bytes();
  stats.resident_bytes = budget_[Charge::kResident];
  stats.pinned_bytes = pinned_bytes_;
  stats.building_bytes = budget_[Charge::kBuilding];
  stats.buffer_bytes = budget_[Charge::kBuffer];
  stats.orphaned_bytes = budget_[Charge::kOrphaned];
  stats.generator_bytes = budget_[Charge::kGenerator];
  stats.spare_bytes = budget_[Charge::kSpare] + budget_[Charge::kRetiring];
  stats.peak_bytes = budget_.peak_bytes();
  stats.resident_blocks = resident_blocks_;
  stats.waiting_requests = queue_.size();
  stats.waiting_bytes = queue_.waiting_bytes();
  return stats;
}

void StoreState::Close(AfterUnlock& after) {
  closed_ = true;
  std::vector<RequestPtr> waiting;
  std::vector<BlockSlot*> unwanted;
  for (const auto& [key, record] : tables_.records()) {
    for (const auto& [index, slot] : record->slots) {
      waiting.insert(waiting.end(), slot->waiters.begin(), slot->waiters.end());
      const bool ahead = slot->build && !slot->build->started && slot->waiters.empty();
      if (ahead) unwanted.push_back(slot.get());
    }
  }
  for (BlockSlot* slot : unwanted) DropBuild(*slot, after);
  while (!queue_.empty()) End(*queue_.front(), absl::CancelledError("the server is shutting down"), after);
  for (RequestPtr& request : waiting) {
    End(*request, absl::CancelledError("the server is shutting down"), after);
    after.garbage.push_back(std::move(request));
  }
  after.admit = false;
}

void StoreState::Clear(AfterUnlock& after) {
  EvictAll(after);
  after.admit = false;
}

}  // namespace posenc

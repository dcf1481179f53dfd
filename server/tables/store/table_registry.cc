#include "server/tables/store/table_registry.h"

#include <algorithm>
#include <utility>

namespace posenc {
namespace {

constexpr size_t kMaxIdleTables = 256;

// Spec, shape, facts and the store's own entries, roughly. Without it a flood of tiny tables would cost
// more memory than it is charged for.
constexpr size_t kTableOverheadBytes = 2048;

}  // namespace

size_t TableCharge(const Table& table) {
  return table.generator().footprint_bytes() + kTableOverheadBytes;
}

TableRecord* TableRegistry::Find(const TableKey& key) const {
  const auto found = records_.find(key);
  return found == records_.end() ? nullptr : found->second.get();
}

TableRecord& TableRegistry::Adopt(const TablePtr& table) {
  std::unique_ptr<TableRecord>& record = records_[table->key()];
  if (!record) record = std::make_unique<TableRecord>(table);
  return *record;
}

void TableRegistry::Touch(TableRecord& record) {
  if (record.idle_position) idle_.splice(idle_.begin(), idle_, *record.idle_position);
}

void TableRegistry::Settle(TableRecord& record, AfterUnlock& after) {
  const bool idle = record.slots.empty() && record.pinned_bytes == 0;
  if (!idle) return LeaveIdle(record);
  if (record.idle_position) return;
  idle_.push_front(&record);
  record.idle_position = idle_.begin();
  idle_bytes_ += TableCharge(*record.table);
  while (idle_.size() > kMaxIdleTables || idle_bytes_ > max_idle_bytes_) {
    Forget(*idle_.back(), after);
  }
}

void TableRegistry::DropIdle(size_t bytes, AfterUnlock& after) {
  const size_t goal = idle_bytes_ - std::min(idle_bytes_, bytes);
  while (idle_bytes_ > goal) Forget(*idle_.back(), after);
}

void TableRegistry::LeaveIdle(TableRecord& record) {
  if (!record.idle_position) return;
  idle_.erase(*record.idle_position);
  record.idle_position.reset();
  idle_bytes_ -= TableCharge(*record.table);
}

void TableRegistry::Forget(TableRecord& record, AfterUnlock& after) {
  LeaveIdle(record);
  const TableKey key = record.table->key();
  after.garbage.push_back(std::move(record.table));
  records_.erase(key);
}

}  // namespace posenc

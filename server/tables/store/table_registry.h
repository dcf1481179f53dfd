// The tables that are known by their key: those in use (pinned, or with slots) and the latest idle ones.
//
// Idle tables cost only their generators' footprint; they are kept so that the next request for one need
// not compute frequencies again, within a count and within a share of the budget.
//
// Threads: none of its own; the store's lock guards it. Tables must not be destroyed under that lock (a
// table gives its charge back), so what is dropped goes to `after`.

#ifndef POSENC_SERVER_TABLES_STORE_TABLE_REGISTRY_H_
#define POSENC_SERVER_TABLES_STORE_TABLE_REGISTRY_H_

#include <cstddef>
#include <list>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "server/core/table_key.h"
#include "server/tables/store/after_unlock.h"
#include "server/tables/store/table_record.h"

namespace posenc {

// Returns the bytes of the budget that a table itself takes: its generator and the bookkeeping for it.
size_t TableCharge(const Table& table);

class TableRegistry {
 public:
  using Records = absl::flat_hash_map<TableKey, std::unique_ptr<TableRecord>>;

  explicit TableRegistry(size_t max_idle_bytes) : max_idle_bytes_(max_idle_bytes) {}

  const Records& records() const { return records_; }
  TableRecord* Find(const TableKey& key) const;
  bool has_idle() const { return !idle_.empty(); }

  // Returns the table's record, making one if there is none. Settle it when its slots are in place.
  TableRecord& Adopt(const TablePtr& table);

  // Counts as a use of an idle table.
  void Touch(TableRecord& record);

  // Puts the record among the idle ones or takes it out, after its slots or pin have changed. The record
  // may be gone afterwards.
  void Settle(TableRecord& record, AfterUnlock& after);

  // Forgets the idle tables that were used longest ago, until `bytes` of charges are let go or none is left.
  void DropIdle(size_t bytes, AfterUnlock& after);

 private:
  void Forget(TableRecord& record, AfterUnlock& after);
  void LeaveIdle(TableRecord& record);

  const size_t max_idle_bytes_;
  size_t idle_bytes_ = 0;
  std::list<TableRecord*> idle_;  // most recent first
  Records records_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_TABLE_REGISTRY_H_

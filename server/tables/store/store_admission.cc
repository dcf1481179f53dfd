// The part of StoreState that decides who gets memory, and when.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/tables/memory/byte_text.h"
#include "server/tables/store/store_state.h"

namespace posenc {
namespace {

absl::Status ShuttingDown() { return absl::CancelledError("the server is shutting down"); }

// Blocks generated ahead take one part in so many of what is free or may be evicted. Were it all of it,
// streams would evict each other's blocks before they are read, and generate them twice.
constexpr size_t kAheadShare = 4;

// Bytes of all blocks of the request; a double, as a range of a virtual table may exceed an integer.
double FullBytes(const FetchRequest& fetch) {
  const double blocks = static_cast<double>(fetch.last_block - fetch.first_block);
  return blocks * static_cast<double>(BlockCharge(*fetch.table, fetch.first_block)) +
         static_cast<double>(BlockCharge(*fetch.table, fetch.last_block));
}

}  // namespace

void StoreState::Submit(const RequestPtr& request, absl::Time now, AfterUnlock& after) {
  if (closed_) return Complete(request, ShuttingDown(), after);
  if (absl::Status fits = CheckFitsEver(*request); !fits.ok()) {
    ++counters_.rejected_too_large;
    return Complete(request, std::move(fits), after);
  }
  if (FetchRequest* fetch = request->AsFetch()) fetch->missing_bytes = CountMissing(*fetch);
  request->account = queue_.AccountOf(request->peer);
  const bool needs_memory = request->missing_bytes > 0;
  if (needs_memory && !(queue_.empty() && Fits(*request))) {
    JoinLine(request, now, after);
    // Those who wait may all wait for more than this one, whose turn comes before theirs.
    if (queue_.front() == request && Fits(*request)) Admit(after);
    return;
  }
  AdmitRequest(request, after);
  SettleFreed(after);
}

void StoreState::Admit(AfterUnlock& after) {
  while (FrontFits()) {
    const RequestPtr request = LeaveLine(*queue_.front(), after);
    AdmitRequest(request, after);
    after.garbage.push_back(request);
  }
  SettleFreed(after);
  // Idle tables go last: what blocks can be evicted does not suffice.
  if (!queue_.empty()) tables_.DropIdle(queue_.front()->missing_bytes, after);
}

absl::Status StoreState::CheckFitsEver(Request& request) const {
  double needed = static_cast<double>(request.missing_bytes);
  double reserved = static_cast<double>(pinned_bytes_);
  if (const FetchRequest* fetch = request.AsFetch()) {
    const TableRecord* record = tables_.Find(fetch->table->key());
    if (record != nullptr && record->pinned_bytes > 0) return absl::OkStatus();
    needed = FullBytes(*fetch);
    reserved += static_cast<double>(TableCharge(*fetch->table));
  }
  if (needed + reserved <= static_cast<double>(budget_.limit_bytes())) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "needs ", ByteText(needed), " at once, but the memory budget is ",
      ByteText(static_cast<double>(budget_.limit_bytes())), ", of which ", ByteText(reserved),
      " are set aside for tables: ask for a smaller slice, stream it, or raise --cache-bytes"));
}

size_t StoreState::CountMissing(FetchRequest& fetch) const {
  size_t missing = 0;
  TableRecord* record = tables_.Find(fetch.table->key());
  for (int64_t i = fetch.first_block; i <= fetch.last_block; ++i) {
    const BlockSlot* slot = record == nullptr ? nullptr : record->Find(i);
    if (slot == nullptr || slot->missing()) missing += BlockCharge(*fetch.table, i);
  }
  return missing;
}

bool StoreState::Fits(Request& request) const {
  size_t available = AvailableBytes();
  if (request.missing_bytes > available) return false;
  const FetchRequest* fetch = request.AsFetch();
  TableRecord* record = fetch == nullptr ? nullptr : tables_.Find(fetch->table->key());
  if (record == nullptr) return true;
  // The request's own resident blocks cannot make room for its missing ones.
  for (int64_t i = fetch->first_block; i <= fetch->last_block; ++i) {
    const BlockSlot* slot = record->Find(i);
    if (slot != nullptr && slot->evictable) available -= slot->charge_bytes;
  }
  return request.missing_bytes <= available;
}

void StoreState::JoinLine(const RequestPtr& request, absl::Time now, AfterUnlock& after) {
  if (FetchRequest* fetch = request->AsFetch()) {
    TableRecord& record = tables_.Adopt(fetch->table);
    const auto self = std::static_pointer_cast<FetchRequest>(request);
    for (int64_t i = fetch->first_block; i <= fetch->last_block; ++i) {
      record.SlotAt(i).candidates.push_back(self);
    }
    tables_.Settle(record, after);
  }
  queue_.Push(request, now, budget_.limit_bytes());
  // A deadline that has passed is not the alarm's: whoever submitted the request looks again.
  if (request->deadline > now) {
    after.wake_by = std::min(after.wake_by, request->deadline);
    after.joined_line = true;
  }
  if (queue_.front() == request) tables_.DropIdle(request->missing_bytes, after);
}

RequestPtr StoreState::LeaveLine(Request& request, AfterUnlock& after) {
  RequestPtr taken = queue_.Take(request);
  const FetchRequest* fetch = request.AsFetch();
  if (fetch == nullptr) return taken;
  TableRecord* record = tables_.Find(fetch->table->key());
  for (int64_t i = fetch->first_block; i <= fetch->last_block; ++i) {
    BlockSlot* slot = record->Find(i);
    auto& candidates = slot->candidates;
    std::swap(*std::find(candidates.begin(), candidates.end(), taken), candidates.back());
    candidates.pop_back();
    if (slot->idle()) record->slots.erase(i);
  }
  tables_.Settle(*record, after);
  return taken;
}

void StoreState::Complete(RequestPtr request, absl::Status status, AfterUnlock& after) {
  request->stage = Request::Stage::kDone;
  after.completions.push_back({std::move(request), std::move(status)});
}

void StoreState::End(Request& request, absl::Status status, AfterUnlock& after) {
  RequestPtr self = request.shared_from_this();
  if (request.stage == Request::Stage::kDone || request.stage == Request::Stage::kNew) return;
  if (request.stage == Request::Stage::kInLine) {
    after.garbage.push_back(LeaveLine(request, after));
  } else {
    LeaveBuilds(*request.AsFetch(), after);
  }
  Complete(std::move(self), std::move(status), after);
  after.admit = AdmitPays();
}

void StoreState::Expire(Request& request, absl::Time now, AfterUnlock& after) {
  if (request.stage != Request::Stage::kInLine) return;
  ++counters_.rejected_timeout;
  const absl::Duration waited = now - request.in_line_since;
  End(request,
      absl::ResourceExhaustedError(absl::StrCat(
          "waited ", absl::FormatDuration(absl::Trunc(waited, absl::Milliseconds(1))), " for ",
          ByteText(static_cast<double>(request.missing_bytes)), " of the memory budget of ",
          ByteText(static_cast<double>(budget_.limit_bytes())),
          ", which is in use: try again later, ask for a smaller slice, or raise --cache-bytes")),
      after);
}

void StoreState::ExpireAllDue(absl::Time now, AfterUnlock& after) {
  while (queue_.next_deadline() <= now) Expire(queue_.next_to_expire(), now, after);
  after.wake_by = std::min(after.wake_by, queue_.next_deadline());
}

void StoreState::AdmitRequest(const RequestPtr& request, AfterUnlock& after) {
  if (request->AsFetch() != nullptr) {
    return AdmitFetch(std::static_pointer_cast<FetchRequest>(request), after);
  }
  ReserveRequest& reserve = *request->AsReserve();
  reserve.charged = PeerCharge(reserve.account, reserve.missing_bytes);
  reserve.memory = Reserve(reserve.charge, reserve.missing_bytes, after);
  Complete(request, absl::OkStatus(), after);
}

void StoreState::AdmitFetch(const std::shared_ptr<FetchRequest>& fetch, AfterUnlock& after) {
  TableRecord& record = tables_.Adopt(fetch->table);
  std::vector<BlockSlot*> missing;
  size_t wanted_bytes = 0;
  for (int64_t i = fetch->first_block; i <= fetch->last_block; ++i) {
    BlockSlot& slot = record.SlotAt(i);
    wanted_bytes += slot.charge_bytes;
    CountLookup(slot);
    NoLongerAhead(slot);
    fetch->blocks.push_back(slot.block ? Hold(slot) : nullptr);
    if (slot.block) continue;
    if (!slot.build) {
      missing.push_back(&slot);
    } else if (!slot.build->started && std::exchange(slot.build->ahead, false)) {
      after.builds.push_back(slot.build);  // a second time: whichever worker comes first begins it
    }
    slot.waiters.push_back(fetch);
    ++fetch->pending_builds;
  }
  fetch->charged = PeerCharge(fetch->account, wanted_bytes);
  fetch->stage = Request::Stage::kBuilding;
  tables_.Settle(record, after);  // before anything is evicted: it must not count as idle
  for (BlockSlot* slot : missing) StartBuild(*slot, fetch->peer, fetch->table, after);
  if (fetch->pending_builds == 0) Complete(fetch, absl::OkStatus(), after);
  AdmitJoiners(missing, after);
}

void StoreState::GenerateAhead(const TablePtr& table, int64_t first_block, int64_t last_block,
                               AfterUnlock& after) {
  if (closed_) return;
  std::vector<BlockSlot*> missing;
  TableRecord& record = tables_.Adopt(table);
  for (int64_t i = first_block; i <= last_block; ++i) {
    const BlockSlot* known = record.Find(i);
    if (known != nullptr && !known->missing()) continue;
    const size_t bytes = BlockCharge(*table, i);
    if (!queue_.empty() || ahead_bytes_ + bytes > AvailableBytes() / kAheadShare) break;
    BlockSlot& slot = record.SlotAt(i);
    slot.ahead = true;
    ahead_bytes_ += bytes;
    missing.push_back(&slot);
  }
  tables_.Settle(record, after);  // before anything is evicted, as in AdmitFetch
  for (BlockSlot* slot : missing) {
    StartBuild(*slot, PeerId(), table, after);
    slot->build->ahead = true;
    after.builds_ahead.push_back(std::move(after.builds.back()));
    after.builds.pop_back();
  }
  SettleFreed(after);
}

// Requests in line that wanted just the blocks that are being built now need no memory any more.
void StoreState::AdmitJoiners(const std::vector<BlockSlot*>& begun, AfterUnlock& after) {
  std::vector<std::shared_ptr<FetchRequest>> joiners;
  for (const BlockSlot* slot : begun) {
    for (const std::shared_ptr<FetchRequest>& candidate : slot->candidates) {
      candidate->missing_bytes -= slot->charge_bytes;
      if (candidate->missing_bytes == 0) joiners.push_back(candidate);
    }
  }
  for (const std::shared_ptr<FetchRequest>& joiner : joiners) {
    LeaveLine(*joiner, after);
    AdmitFetch(joiner, after);
  }
}

bool StoreState::TryReserve(Charge charge, size_t bytes, AfterUnlock& after) {
  if (!queue_.empty() || bytes > AvailableBytes()) return false;
  ReserveBytes(charge, bytes, after);
  SettleFreed(after);
  return true;
}

// Reserves bytes for something that has its own memory. Requires: they fit.
void StoreState::ReserveBytes(Charge charge, size_t bytes, AfterUnlock& after) {
  while (budget_.free_bytes() < bytes) FreeSpareOrOldest(after);
  budget_.Add(charge, bytes);
  after.fresh_bytes += bytes;
}

// Makes the largest spare piece free, or spare or free what was used longest ago.
void StoreState::FreeSpareOrOldest(AfterUnlock& after) {
  if (spare_.empty()) {
    EvictOldest(after);
  } else {
    Free(Charge::kSpare, spare_.TakeLargest(), after);
  }
}

// Reserves bytes for a block or buffer. Requires: they fit. Returns spare memory of just that size, or
// nothing, when the memory is to be allocated after everything in `after.dead` has gone.
BlockMemory StoreState::Reserve(Charge charge, size_t bytes, AfterUnlock& after) {
  for (;;) {
    if (BlockMemory memory = spare_.Take(bytes)) {
      budget_.Move(Charge::kSpare, charge, bytes);
      return memory;
    }
    if (budget_.free_bytes() >= bytes) {
      budget_.Add(charge, bytes);
      after.fresh_bytes += bytes;
      return {};
    }
    FreeSpareOrOldest(after);
  }
}

// Memory that was taken off the budget, but not in favour of anybody, stays charged until it is gone.
void StoreState::SettleFreed(AfterUnlock& after) {
  if (after.freed_bytes > after.fresh_bytes) {
    const size_t surplus = after.freed_bytes - after.fresh_bytes;
    budget_.Add(Charge::kRetiring, surplus);
    after.retiring_bytes += surplus;
  }
  after.freed_bytes = after.fresh_bytes = 0;
}

}  // namespace posenc

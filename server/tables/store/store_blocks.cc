// The part of StoreState that follows a block: being built, resident, held, evicted, its memory reused.

#include <algorithm>
#include <utility>

#include "server/tables/store/store_state.h"

namespace posenc {

void StoreState::StartBuild(BlockSlot& slot, const PeerId& peer, const TablePtr& table, AfterUnlock& after) {
  slot.build = std::make_shared<BlockBuild>();
  slot.build->peer = peer;
  slot.build->table = table;
  slot.build->slot = &slot;
  slot.build->index = slot.index;
  slot.build->charge_bytes = slot.charge_bytes;
  // Memory for others to map is made for each table: a spare piece is no use for it.
  if (table->shared()) {
    ReserveBytes(Charge::kBuilding, slot.charge_bytes, after);
  } else {
    slot.build->memory = Reserve(Charge::kBuilding, slot.charge_bytes, after);
  }
  after.builds.push_back(slot.build);
}

bool StoreState::Begin(BlockBuild& build) {
  if (build.dropped || build.started) return false;
  return build.started = true;
}

void StoreState::Finish(BlockBuild& build, std::shared_ptr<CachedBlock> block, absl::Duration took,
                        AfterUnlock& after) {
  BlockSlot& slot = *build.slot;
  budget_.Move(Charge::kBuilding, Charge::kResident, slot.charge_bytes);
  ++resident_blocks_;
  ++slot.record->resident_blocks;
  slot.record->resident_bytes += slot.charge_bytes;
  counters_.generated_blocks += 1;
  counters_.generated_bytes += slot.charge_bytes;
  counters_.generated_by_family[build.table->spec().family.index()] += 1;
  counters_.generation.Add(absl::ToDoubleSeconds(took));
  block->slot = &slot;
  slot.block = std::move(block);
  after.garbage.push_back(std::move(slot.build));
  after.garbage.push_back(std::move(build.table));
  order_.Touch(slot);
  for (std::shared_ptr<FetchRequest>& waiter : std::exchange(slot.waiters, {})) {
    waiter->blocks[slot.index - waiter->first_block] = Hold(slot);
    if (--waiter->pending_builds == 0) Complete(std::move(waiter), absl::OkStatus(), after);
  }
  order_.Update(slot);
  Admit(after);
}

void StoreState::Fail(BlockBuild& build, const absl::Status& status, AfterUnlock& after) {
  BlockSlot& slot = *build.slot;
  while (!slot.waiters.empty()) End(*slot.waiters.back(), status, after);
  DropBuild(slot, after);
  Admit(after);
}

// Takes a request out of the builds that it waits for. A build that nobody waits for any more is dropped,
// unless a worker is at it: then the block is kept for the next one who asks.
void StoreState::LeaveBuilds(FetchRequest& fetch, AfterUnlock& after) {
  for (int64_t i = fetch.first_block; i <= fetch.last_block; ++i) {
    TableRecord* record = tables_.Find(fetch.table->key());
    BlockSlot* slot = record == nullptr ? nullptr : record->Find(i);
    if (slot == nullptr) continue;
    const auto waiter = std::find_if(slot->waiters.begin(), slot->waiters.end(),
                                     [&](const auto& other) { return other.get() == &fetch; });
    if (waiter == slot->waiters.end()) continue;
    after.garbage.push_back(std::move(*waiter));
    slot->waiters.erase(waiter);
    if (!slot->waiters.empty() || slot->build->started) continue;
    ++counters_.cancelled_builds;
    DropBuild(*slot, after);
  }
}

void StoreState::DropBuild(BlockSlot& slot, AfterUnlock& after) {
  NoLongerAhead(slot);
  const std::shared_ptr<BlockBuild> build = std::exchange(slot.build, nullptr);
  after.garbage.push_back(build);
  build->dropped = true;
  if (build->memory) {
    Recycle(Charge::kBuilding, std::move(build->memory), after);
  } else {
    budget_.Remove(Charge::kBuilding, build->charge_bytes);
  }
  SlotIsMissing(slot, after);
}

void StoreState::NoLongerAhead(BlockSlot& slot) {
  if (std::exchange(slot.ahead, false)) ahead_bytes_ -= slot.charge_bytes;
}

std::shared_ptr<CachedBlock> StoreState::Hold(BlockSlot& slot) {
  slot.block->holders.fetch_add(1, std::memory_order_relaxed);
  order_.Update(slot);
  order_.Touch(slot);
  return slot.block;
}

CachedBlocks StoreState::HoldResident(const TableKey& key, int64_t first_block, int64_t last_block,
                                      bool count) {
  TableRecord* record = closed_ ? nullptr : tables_.Find(key);
  if (record == nullptr || last_block - first_block >= record->resident_blocks) return {};
  for (int64_t i = first_block; i <= last_block; ++i) {
    const BlockSlot* slot = record->Find(i);
    if (slot == nullptr || !slot->block) return {};
  }
  CachedBlocks held;
  for (int64_t i = first_block; i <= last_block; ++i) {
    BlockSlot& slot = *record->Find(i);
    if (count) CountLookup(slot);
    NoLongerAhead(slot);
    held.push_back(Hold(slot));
  }
  return held;
}

// A block that was generated ahead is a miss of the first who asks for it.
void StoreState::CountLookup(BlockSlot& slot) {
  const bool miss = slot.missing() || slot.ahead;
  ++(miss ? counters_.misses : slot.block ? counters_.hits : counters_.coalesced);
}

// Two threads may report the same block, and somebody may have taken hold of it again meanwhile.
void StoreState::LastHolderLeft(CachedBlock& block, AfterUnlock& after) {
  if (block.slot != nullptr) {
    order_.Update(*block.slot);
  } else if (block.holders.load(std::memory_order_acquire) == 0) {
    if (BlockMemory memory = block.TakeMemory()) {
      Recycle(Charge::kOrphaned, std::move(memory), after);
    }
  }
  after.admit = AdmitPays();
}

void StoreState::Recycle(Charge charge, BlockMemory memory, AfterUnlock& after) {
  const size_t bytes = memory.size_bytes();
  if (!closed_ && !memory.shareable() && spare_.bytes() + bytes <= max_spare_bytes_) {
    budget_.Move(charge, Charge::kSpare, bytes);
    spare_.Put(std::move(memory));
  } else {
    budget_.Move(charge, Charge::kRetiring, bytes);
    after.retiring_bytes += bytes;
    after.dead.push_back(std::move(memory));
  }
}

void StoreState::EvictOldest(AfterUnlock& after) {
  BlockSlot& slot = order_.Oldest();
  ++counters_.capacity_evictions;
  if (BlockMemory memory = Uncache(slot, after)) {
    if (memory.shareable()) {
      Free(Charge::kResident, std::move(memory), after);
    } else {
      budget_.Move(Charge::kResident, Charge::kSpare, memory.size_bytes());
      spare_.Put(std::move(memory));
    }
  }
  SlotIsMissing(slot, after);
}

// Spare memory first; what is evicted becomes spare, or goes at once.
void StoreState::Shed(size_t bytes, AfterUnlock& after) {
  size_t shed = 0;
  while (shed < bytes && !(spare_.empty() && order_.bytes() == 0)) {
    if (spare_.empty()) {
      EvictOldest(after);
      continue;
    }
    BlockMemory memory = spare_.TakeLargest();
    shed += memory.size_bytes();
    budget_.Move(Charge::kSpare, Charge::kRetiring, memory.size_bytes());
    after.retiring_bytes += memory.size_bytes();
    after.dead.push_back(std::move(memory));
  }
  SettleFreed(after);
}

// Takes memory off the budget in favour of what is being reserved; it goes before that is allocated.
void StoreState::Free(Charge charge, BlockMemory memory, AfterUnlock& after) {
  budget_.Remove(charge, memory.size_bytes());
  after.freed_bytes += memory.size_bytes();
  after.dead.push_back(std::move(memory));
}

// Takes the block out of the cache, and the memory out of the block unless it is held.
BlockMemory StoreState::Uncache(BlockSlot& slot, AfterUnlock& after) {
  const std::shared_ptr<CachedBlock> block = std::exchange(slot.block, nullptr);
  after.garbage.push_back(block);
  NoLongerAhead(slot);
  block->slot = nullptr;
  order_.Update(slot);
  --resident_blocks_;
  --slot.record->resident_blocks;
  slot.record->resident_bytes -= slot.charge_bytes;
  counters_.evicted_bytes += slot.charge_bytes;
  if (block->holders.load(std::memory_order_acquire) == 0) return block->TakeMemory();
  budget_.Move(Charge::kResident, Charge::kOrphaned, slot.charge_bytes);
  return {};
}

// The block is neither resident nor being built any more: whoever is in line for it must find its bytes.
// The slot, and its table's record, may be gone afterwards.
void StoreState::SlotIsMissing(BlockSlot& slot, AfterUnlock& after) {
  for (const std::shared_ptr<FetchRequest>& candidate : slot.candidates) {
    candidate->missing_bytes += slot.charge_bytes;
  }
  if (!slot.idle()) return;
  TableRecord& record = *slot.record;
  record.slots.erase(slot.index);
  tables_.Settle(record, after);
}

}  // namespace posenc

#include "server/tables/store/store_core.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "server/core/check.h"
#include "server/tables/store/want_of_memory.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// What is given back for a block that the system has no memory for.
constexpr size_t kShedBlocks = 8;

// Calls back; a request that has no memory for its answer gets that as its answer.
void Call(Request& request, absl::Status status) {
  try {
    request.Finish(std::move(status));
  } catch (const std::bad_alloc&) {
    IgnoreBadAlloc([&] { request.Finish(NoSystemMemory()); });
  }
}

// How often those who can make room are told that somebody waits.
constexpr absl::Duration kObservationInterval = absl::Milliseconds(100);

BlockMemory MemoryFor(BlockBuild& build) {
  if (build.memory) return std::move(build.memory);
  if (build.table->shared()) return BlockMemory::AllocateShareable(build.charge_bytes);
  return BlockMemory::Allocate(build.charge_bytes, BlockMemory::Pages::kPresent);
}

class ChargedBuffer final : public Buffer {
 public:
  ChargedBuffer(BlockMemory memory, size_t size_bytes, PeerCharge charge)
      : memory_(std::move(memory)), size_bytes_(size_bytes), charge_(std::move(charge)) {}
  std::span<std::byte> bytes() override { return {memory_.data(), size_bytes_}; }
  BlockMemory TakeMemory() { return std::move(memory_); }
  void EndCharge() { charge_ = PeerCharge(); }

 private:
  BlockMemory memory_;
  size_t size_bytes_;
  PeerCharge charge_;
};

}  // namespace

StoreCore::StoreCore(const TableStoreOptions& options)
    : options_(options),
      state_(options.budget_bytes, options.block_bytes),
      workers_(options.threads),
      alarm_([this] { OnAlarm(); }) {}

void StoreCore::OnAlarm() {
  size_t waiting_bytes = 0;
  const absl::Time now = SteadyNow();
  Do(Caller::kOther, [&](StoreState& state, AfterUnlock& after) {
    state.ExpireAllDue(now, after);
    waiting_bytes = state.waiting_bytes();
    if (waiting_bytes > 0) after.wake_by = std::min(after.wake_by, now + kObservationInterval);
  });
  if (waiting_bytes > 0) TellObservers(waiting_bytes);
}

void StoreCore::TellObservers(size_t waiting_bytes) {
  MutexLock lock(&observers_mutex_);
  for (const TableStore::WaitObserver& observer : observers_) observer(waiting_bytes);
}

std::shared_ptr<void> StoreCore::WhileSomebodyWaits(TableStore::WaitObserver observer) {
  MutexLock lock(&observers_mutex_);
  const auto place = observers_.insert(observers_.end(), std::move(observer));
  return std::shared_ptr<void>(nullptr, [core = shared_from_this(), place](std::nullptr_t) {
    MutexLock lock(&core->observers_mutex_);
    core->observers_.erase(place);
  });
}

void StoreCore::Start(const RequestPtr& request) {
  Do(Caller::kOther,
     [&](StoreState& state, AfterUnlock& after) { state.Submit(request, SteadyNow(), after); },
     request.get());
  if (request->deadline > SteadyNow()) return;
  // No time to wait. Tables that were dropped to make room have given their bytes back by now.
  Do(Caller::kOther,
     [&](StoreState& state, AfterUnlock& after) {
       state.Admit(after);
       state.Expire(*request, SteadyNow(), after);
     },
     request.get());
}

void StoreCore::CancelRequest(Request& request) {
  Do(Caller::kOther, [&](StoreState& state, AfterUnlock& after) {
    state.End(request, absl::CancelledError("the request was cancelled"), after);
  });
}

void StoreCore::LastHolderLeft(const std::shared_ptr<CachedBlock>& block) {
  Do(Caller::kOther,
     [&](StoreState& state, AfterUnlock& after) { state.LastHolderLeft(*block, after); });
}

std::vector<BlockPtr> StoreCore::FindResident(const TableKey& key, int64_t first_block, int64_t last_block,
                                              bool count) {
  CachedBlocks held;
  {
    MutexLock lock(&mutex_);
    held = state_.HoldResident(key, first_block, last_block, count);
  }
  std::vector<BlockPtr> leases;
  leases.reserve(held.size());
  for (std::shared_ptr<CachedBlock>& block : held) leases.push_back(MakeLease(shared_from_this(), std::move(block)));
  return leases;
}

absl::StatusOr<BufferPtr> StoreCore::MakeBuffer(size_t size_bytes,
                                                absl::StatusOr<ReserveRequest::Grant> granted) {
  if (!granted.ok()) return granted.status();
  BlockMemory memory = std::move(granted->memory);
  // Whoever writes the buffer takes the page faults, on a worker.
  if (!memory) memory = BlockMemory::Allocate(size_bytes, BlockMemory::Pages::kOnDemand);
  if (!memory) {
    Refund(Charge::kBuffer, ChargeFor(size_bytes));
    return NoSystemMemory();
  }
  Check(memory.size_bytes() == ChargeFor(size_bytes), "a buffer has the memory that it is charged");
  return std::shared_ptr<ChargedBuffer>(
      new ChargedBuffer(std::move(memory), size_bytes, std::move(granted->held)),
      [core = shared_from_this()](ChargedBuffer* buffer) {
        buffer->EndCharge();
        core->Do(Caller::kOther, [&](StoreState& state, AfterUnlock& after) {
          state.Recycle(Charge::kBuffer, buffer->TakeMemory(), after);
          after.admit = state.AdmitPays();
        });
        delete buffer;
      });
}

void StoreCore::Refund(Charge charge, size_t bytes) {
  Do(Caller::kOther, [&](StoreState& state, AfterUnlock& after) {
    state.Refund(charge, bytes);
    after.admit = state.AdmitPays();
  });
}

void StoreCore::Shutdown() {
  Do(Caller::kOther, [](StoreState& state, AfterUnlock& after) { state.Close(after); });
  alarm_.Shutdown();
  workers_.Shutdown();
  Do(Caller::kOther, [](StoreState& state, AfterUnlock& after) { state.Clear(after); });
}

void StoreCore::CarryOut(AfterUnlock& after, Caller caller, const Request* own) {
  after.garbage.clear();
  after.dead.clear();
  if (after.retiring_bytes > 0) Refund(Charge::kRetiring, after.retiring_bytes);
  for (std::shared_ptr<BlockBuild>& build : after.builds) {
    fair_work_.Run(build->peer, [this, build] { Build(*build); });
  }
  for (std::shared_ptr<BlockBuild>& build : after.builds_ahead) {
    workers_.RunLater([this, build = std::move(build)] { Build(*build); });
  }
  if (after.admit) ScheduleAdmission();
  if (after.joined_line) after.wake_by = std::min(after.wake_by, SteadyNow() + kObservationInterval);
  alarm_.WakeBy(after.wake_by);
  for (AfterUnlock::Completion& completion : after.completions) {
    if (caller == Caller::kWorker || completion.request.get() == own) {
      Call(*completion.request, std::move(completion.status));
    } else {
      workers_.Run([completion = std::move(completion)]() mutable {
        Call(*completion.request, std::move(completion.status));
      });
    }
  }
}

// Admission may evict and start a lot: whoever lets go of a block does not pay for it.
void StoreCore::ScheduleAdmission() {
  if (admission_scheduled_.exchange(true)) return;
  workers_.Run([this] {
    admission_scheduled_ = false;
    Do(Caller::kWorker, [](StoreState& state, AfterUnlock& after) { state.Admit(after); });
  });
}

void StoreCore::Run(std::function<void()> work) {
  workers_.Run([work = std::move(work)] {
    // Work answers for its own failures. One that has no memory even for that must not end the process.
    IgnoreBadAlloc([&] { work(); });
  });
}

void StoreCore::ShedMemory(size_t bytes) {
  Do(Caller::kWorker, [&](StoreState& state, AfterUnlock& after) { state.Shed(bytes, after); });
}

void StoreCore::Build(BlockBuild& build) {
  {
    MutexLock lock(&mutex_);
    if (!state_.Begin(build)) return;
  }
  absl::Duration took;
  absl::StatusOr<std::shared_ptr<CachedBlock>> block = Generate(build, took);
  if (IsWantOfMemory(block.status())) {
    ShedMemory(kShedBlocks * build.charge_bytes);
    block = Generate(build, took);
  }
  if (!block.ok()) {
    return Do(Caller::kWorker, [&](StoreState& state, AfterUnlock& after) {
      state.Fail(build, block.status(), after);
    });
  }
  // Streams ask for blocks ahead, and they will want the checksum: now the rows are in this CPU's cache.
  if (build.ahead) (*block)->crc32c();
  Do(Caller::kWorker, [&](StoreState& state, AfterUnlock& after) {
    state.Finish(build, *std::move(block), took, after);
  });
}

absl::StatusOr<std::shared_ptr<CachedBlock>> StoreCore::Generate(BlockBuild& build, absl::Duration& took) {
  try {
    BlockMemory memory = MemoryFor(build);
    if (!memory) return NoSystemMemory();
    auto block = std::make_shared<CachedBlock>(*build.table, build.index, std::move(memory));
    const auto begin = std::chrono::steady_clock::now();
    const absl::Status generated = block->Generate(build.table->generator());
    if (!generated.ok()) return generated;
    took = absl::FromChrono(std::chrono::steady_clock::now() - begin);
    return block;
  } catch (const std::bad_alloc&) {
    return NoSystemMemory();
  }
}

}  // namespace posenc

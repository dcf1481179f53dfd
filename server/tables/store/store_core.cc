#include "server/tables/store/store_core.h"

#include <chrono>
#include <utility>

#include "absl/time/clock.h"
#include "server/core/check.h"

namespace posenc {
namespace {

absl::Status NoSystemMemory() {
  return absl::ResourceExhaustedError("the system has no memory left for the server");
}

BlockMemory MemoryFor(BlockBuild& build) {
  if (build.memory) return std::move(build.memory);
  if (build.table->shared()) return BlockMemory::AllocateShareable(build.charge_bytes);
  return BlockMemory::Allocate(build.charge_bytes, BlockMemory::Pages::kPresent);
}

class ChargedBuffer final : public Buffer {
 public:
  ChargedBuffer(BlockMemory memory, size_t size_bytes)
      : memory_(std::move(memory)), size_bytes_(size_bytes) {}
  std::span<std::byte> bytes() override { return {memory_.data(), size_bytes_}; }
  BlockMemory TakeMemory() { return std::move(memory_); }

 private:
  BlockMemory memory_;
  size_t size_bytes_;
};

}  // namespace

StoreCore::StoreCore(const TableStoreOptions& options)
    : options_(options),
      state_(options.budget_bytes, options.block_bytes),
      workers_(options.threads),
      alarm_([this] {
        Do(Caller::kOther, [](StoreState& state, AfterUnlock& after) {
          state.ExpireAllDue(absl::Now(), after);
        });
      }) {}

void StoreCore::Start(const RequestPtr& request) {
  Do(Caller::kOther,
     [&](StoreState& state, AfterUnlock& after) { state.Submit(request, absl::Now(), after); },
     request.get());
  if (request->deadline > absl::Now()) return;
  // No time to wait. Tables that were dropped to make room have given their bytes back by now.
  Do(Caller::kOther,
     [&](StoreState& state, AfterUnlock& after) {
       state.Admit(after);
       state.Expire(*request, absl::Now(), after);
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
                                                absl::StatusOr<BlockMemory> granted) {
  if (!granted.ok()) return granted.status();
  BlockMemory memory = *std::move(granted);
  // Whoever writes the buffer takes the page faults, on a worker.
  if (!memory) memory = BlockMemory::Allocate(size_bytes, BlockMemory::Pages::kOnDemand);
  if (!memory) {
    Refund(Charge::kBuffer, ChargeFor(size_bytes));
    return NoSystemMemory();
  }
  Check(memory.size_bytes() == ChargeFor(size_bytes), "a buffer has the memory that it is charged");
  return std::shared_ptr<ChargedBuffer>(
      new ChargedBuffer(std::move(memory), size_bytes),
      [core = shared_from_this()](ChargedBuffer* buffer) {
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
    workers_.Run([this, build = std::move(build)] { Build(*build); });
  }
  for (std::shared_ptr<BlockBuild>& build : after.builds_ahead) {
    workers_.RunLater([this, build = std::move(build)] { Build(*build); });
  }
  if (after.admit) ScheduleAdmission();
  alarm_.WakeBy(after.wake_by);
  for (AfterUnlock::Completion& completion : after.completions) {
    if (caller == Caller::kWorker || completion.request.get() == own) {
      completion.request->Finish(std::move(completion.status));
    } else {
      workers_.Run([completion = std::move(completion)]() mutable {
        completion.request->Finish(std::move(completion.status));
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

void StoreCore::Build(BlockBuild& build) {
  {
    MutexLock lock(&mutex_);
    if (!state_.Begin(build)) return;
  }
  const auto fail = [&](const absl::Status& status) {
    Do(Caller::kWorker,
       [&](StoreState& state, AfterUnlock& after) { state.Fail(build, status, after); });
  };
  BlockMemory memory = MemoryFor(build);
  if (!memory) return fail(NoSystemMemory());
  auto block = std::make_shared<CachedBlock>(*build.table, build.index, std::move(memory));
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status generated = block->Generate(build.table->generator());
  if (!generated.ok()) return fail(generated);
  const auto took = absl::FromChrono(std::chrono::steady_clock::now() - begin);
  // Streams ask for blocks ahead, and they will want the checksum: now the rows are in this CPU's cache.
  if (build.ahead) block->crc32c();
  Do(Caller::kWorker, [&](StoreState& state, AfterUnlock& after) {
    state.Finish(build, std::move(block), took, after);
  });
}

}  // namespace posenc

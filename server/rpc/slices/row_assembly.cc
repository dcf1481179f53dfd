#include "server/rpc/slices/row_assembly.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "server/rpc/calls/exceptions.h"
#include "server/rpc/slices/assembly_buffer.h"
#include "server/rpc/slices/waiting_plans.h"

namespace posenc {
namespace {

// Whole rows gathered at one go: milliseconds when they have to be generated, and so much work lies between
// two looks for cancellation and between two turns at a worker.
constexpr int64_t kBatchBytes = int64_t{256} << 10;

// Plans up to this are not worth counting: the store's own entries for a request take as much.
constexpr size_t kSmallPlanBytes = size_t{4} << 10;

WaitingPlans& Plans() {
  static auto* const plans = new WaitingPlans;  // of the process: it has one memory
  return *plans;
}

absl::Status TooManyWait() {
  return absl::ResourceExhaustedError(
      "the memory budget is in use, and requests of as many positions as may wait do so already: try again later, "
      "or ask for fewer positions at once");
}

class RowAssembly : public std::enable_shared_from_this<RowAssembly> {
 public:
  RowAssembly(TableStore& store, TablePtr table, PlanPtr plan, std::shared_ptr<Call> call,
              RowsCallback done)
      : store_(store),
        table_(std::move(table)),
        plan_(std::move(plan)),
        call_(std::move(call)),
        done_(std::move(done)),
        batch_rows_(std::min(std::max<int64_t>(1, kBatchBytes / table_->shape().row_bytes()),
                             plan_->row_count())),
        buffer_(table_->shape(), *plan_, batch_rows_) {
    if (!plan_->runs.empty()) row_ = plan_->runs.front().begin;
  }

  void Start() {
    auto on_memory = [self = shared_from_this()](absl::StatusOr<BufferPtr> memory) {
      self->Guard([&] { self->OnMemory(std::move(memory)); });
    };
    std::shared_ptr<FetchTicket> ticket;
    call_->StartRequest([&] {
      return ticket = store_.Allocate(call_->peer(), buffer_.size_bytes(), call_->memory_deadline(), on_memory);
    });
    WaitWithPlan(*ticket);
  }

 private:
  template <typename Work>
  void Guard(Work&& work) {
    CatchExceptions(work, [this](absl::Status failure) { done_(std::move(failure)); });
  }

  // Bounds what waits beside the budget: without room for the plan, the wait ends at once.
  void WaitWithPlan(FetchTicket& ticket) {
    const size_t bytes = plan_->positions.size() * sizeof(double);
    if (bytes <= kSmallPlanBytes) return;
    const PeerId peer = call_->peer();
    {
      const std::lock_guard lock(waiting_mutex_);
      if (!waiting_) return;  // it has its memory
      place_ = Plans().Enter(peer, bytes);
      refused_ = !place_;
      if (!refused_) return;
    }
    ticket.Cancel();
  }

  void OnMemory(absl::StatusOr<BufferPtr> memory) {
    bool refused = false;
    {
      const std::lock_guard lock(waiting_mutex_);
      waiting_ = false;
      place_ = WaitingPlans::Place();
      refused = refused_;
    }
    if (!memory.ok()) return done_(refused ? TooManyWait() : memory.status());
    buffer_.SetMemory(*std::move(memory));
    store_.Run([self = shared_from_this()] { self->Guard([&] { self->Assemble(); }); });
  }

  void Assemble() { plan_->positions.empty() ? CopyRuns() : GatherPositions(); }

  // Stops the work and says so when nobody waits for it.
  bool Stopped() {
    if (!call_->cancelled()) return false;
    done_(call_->EndStatus());
    return true;
  }

  // Copies what is left of the runs, until a block is missing: then goes on once it is there.
  void CopyRuns() {
    while (run_ < plan_->runs.size()) {
      const RowRun& run = plan_->runs[run_];
      if (row_ == run.end) {
        if (++run_ < plan_->runs.size()) row_ = plan_->runs[run_].begin;
        continue;
      }
      const int64_t index = table_->BlockOfRow(row_);
      if (!HoldBlock(index)) return;
      const int64_t end = std::min(run.end, block_->first_row() + block_->row_count());
      buffer_.CopyRows(*block_, row_, end - row_, out_row_);
      out_row_ += end - row_;
      row_ = end;
    }
    block_ = nullptr;
    done_(buffer_.Rows());
  }

  // True when block_ is block `index`; false when the work goes on elsewhere or has stopped.
  bool HoldBlock(int64_t index) {
    if (block_ != nullptr && table_->BlockOfRow(block_->first_row()) == index) return true;
    if (Stopped()) return false;
    block_ = store_.FindResident(*table_, index);
    if (block_ != nullptr) return true;
    FetchBlock(index);
    return false;
  }

  // Fetches a block, if there is memory for it now. This call holds its buffer and must not wait for more:
  // many such calls would wait for each other. Without memory the rows are generated past the cache.
  void FetchBlock(int64_t index) {
    auto on_block = [self = shared_from_this()](absl::StatusOr<std::vector<BlockPtr>> blocks) {
      self->Guard([&] {
        const bool no_memory = absl::IsResourceExhausted(blocks.status());
        if (!blocks.ok() && !no_memory) return self->done_(blocks.status());
        if (blocks.ok()) self->block_ = std::move(blocks->front());
        // Never on from here: the callback may be inline, and a long table would recurse.
        self->store_.Run([self, no_memory] {
          self->Guard([&] {
            if (no_memory) self->GenerateSome();
            self->CopyRuns();
          });
        });
      });
    };
    call_->StartRequest(
        [&] { return store_.Fetch(call_->peer(), table_, index, index, absl::InfinitePast(), on_block); });
  }

  // Generates the next rows of the run, at most a batch and not past their block.
  void GenerateSome() {
    const int64_t block_end = table_->FirstRow(table_->BlockOfRow(row_) + 1);
    const int64_t end = std::min({plan_->runs[run_].end, block_end, row_ + batch_rows_});
    table_->generator().Generate(row_, end - row_, buffer_.GenerationTargets(out_row_));
    buffer_.StoreGenerated(end - row_, out_row_);
    out_row_ += end - row_;
    row_ = end;
  }

  // Gathers one batch of positions and queues for the next one: the workers take turns, so that a long
  // gather keeps nobody waiting for its end.
  void GatherPositions() {
    if (Stopped()) return;
    const int64_t count = plan_->row_count();
    const int64_t end = std::min(out_row_ + batch_rows_, count);
    while (out_row_ < end) GatherSome(end);
    block_ = nullptr;
    looked_up_ = -1;
    if (out_row_ == count) return done_(buffer_.Rows());
    store_.Run([self = shared_from_this()] { self->Guard([&] { self->GatherPositions(); }); });
  }

  // Copies the next row when its block is resident, else generates it and those after it that are not,
  // up to row `end` of the answer.
  void GatherSome(int64_t end) {
    const int64_t begin = out_row_++;
    if (const auto row = FindRow(begin)) return buffer_.CopyRows(*block_, *row, 1, begin);
    while (out_row_ < end && !FindRow(out_row_)) ++out_row_;
    const std::vector<std::byte*> targets = buffer_.GenerationTargets(begin);
    const auto axes = static_cast<size_t>(plan_->position_axes);
    const auto first = static_cast<size_t>(begin), count = static_cast<size_t>(out_row_ - begin);
    table_->generator().GenerateAt(std::span(plan_->positions).subspan(first * axes, count * axes), targets);
    buffer_.StoreGenerated(out_row_ - begin, begin);
  }

  // Returns the table's row that row `out_row` of the answer is, when its block is resident and now in
  // block_. Looks a block up once for rows that follow each other.
  std::optional<int64_t> FindRow(int64_t out_row) {
    const std::optional<int64_t> row = RowOfPosition(table_->shape(), *plan_, out_row);
    if (!row) return std::nullopt;
    const int64_t index = table_->BlockOfRow(*row);
    if (index != looked_up_) {
      block_ = store_.FindResident(*table_, index);
      looked_up_ = index;
    }
    return block_ != nullptr ? row : std::nullopt;
  }

  TableStore& store_;
  const TablePtr table_;
  const PlanPtr plan_;
  const std::shared_ptr<Call> call_;
  const RowsCallback done_;
  const int64_t batch_rows_;
  AssemblyBuffer buffer_;
  std::mutex waiting_mutex_;
  // Guarded by waiting_mutex_:
  bool waiting_ = true;  // for the buffer's memory
  bool refused_ = false;
  WaitingPlans::Place place_;

  // Used by the work under way only:
  BlockPtr block_;           // the block that is copied from
  int64_t looked_up_ = -1;   // the block that FindRow looked up last
  size_t run_ = 0;           // the run that is copied
  int64_t row_ = 0;          // the row that is next, in the table
  int64_t out_row_ = 0;      // the same in the answer
};

}  // namespace

void AssembleRows(TableStore& store, TablePtr table, PlanPtr plan, std::shared_ptr<Call> call,
                  RowsCallback done) {
  std::make_shared<RowAssembly>(store, std::move(table), std::move(plan), std::move(call),
                                std::move(done))
      ->Start();
}

}  // namespace posenc

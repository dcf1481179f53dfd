#include "client/remote/parallel_read.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "client/local/local_slice.h"
#include "client/remote/destinations.h"
#include "server/core/limits.h"

namespace posenc {
namespace {

bool IsOneRunOfRows(const TableShape& shape, const SlicePlan& plan) {
  const bool one_dimension = shape.row_kind == RowKind::kPositions || shape.row_kind == RowKind::kCells;
  return one_dimension && plan.positions.empty() && plan.runs.size() == 1;
}

// Returns `row` moved back to where a block of the service's begins, most likely, so that no block is sent in
// two pieces.
int64_t AtBlock(int64_t row, int64_t row_bytes) {
  int64_t rows = 1;
  while (rows * 2 * row_bytes <= static_cast<int64_t>(limits::kDefaultBlockBytes)) rows *= 2;
  return row / rows * rows;
}

// The threads of one read, and what they have in common.
class ParallelReader {
 public:
  ParallelReader(const ReadPlan& plan, const StreamParams& params, const ReadOnePart& read,
                 std::vector<std::span<std::byte>> memory)
      : plan_(plan), params_(params), read_(read), memory_(std::move(memory)), running_(plan.parts.size()) {}

  absl::Status Run(const ReadProgress& on_progress) {
    const std::stop_callback pass_on(params_.call.stop, [this] { stop_.request_stop(); });
    std::vector<std::jthread> threads;
    // The caller's on_progress may throw; the threads are joined then, too.
    const absl::Cleanup stop = [this] { stop_.request_stop(); };
    for (size_t i = 0; i < plan_.parts.size(); ++i) {
      try {
        threads.emplace_back([this, i] { ReadPartNumber(i); });
      } catch (const std::system_error&) {
        ReadPartNumber(i);  // no more threads to be had
      }
    }
    Watch(on_progress);
    return first_error_;
  }

 private:
  void ReadPartNumber(size_t number) {
    const ReadPart& part = plan_.parts[number];
    StreamParams stream{.spec = params_.spec, .selection = part.selection, .call = params_.call};
    stream.call.stop = stop_.get_token();
    stream.destinations = [&](const SliceInfo&) { return MemoryOf(part); };
    stream.on_chunk = [this](const Chunk& chunk) {
      CountBytes(chunk);
      return absl::OkStatus();
    };
    End(read_(number, stream));
  }

  std::vector<std::span<std::byte>> MemoryOf(const ReadPart& part) const {
    std::vector<std::span<std::byte>> memory;
    for (std::span<std::byte> tensor : memory_) {
      const size_t row_bytes = tensor.size() / plan_.answer.row_count;
      memory.push_back(tensor.subspan(part.first_row * row_bytes, part.row_count * row_bytes));
    }
    return memory;
  }

  void CountBytes(const Chunk& chunk) {
    const std::lock_guard lock(mutex_);
    for (std::span<const std::byte> tensor : chunk.tensors) done_bytes_ += tensor.size();
    changed_.notify_one();
  }

  void End(const absl::Status& status) {
    bool stops_others = false;
    {
      const std::lock_guard lock(mutex_);
      stops_others = !status.ok() && first_error_.ok();
      if (stops_others) first_error_ = status;
    }
    // Without the lock, since whatever a stop does happens here; and before this part counts as ended.
    if (stops_others) stop_.request_stop();
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_one();
  }

  // Returns when every part has ended.
  void Watch(const ReadProgress& on_progress) {
    uint64_t told = 0;
    std::unique_lock lock(mutex_);
    while (running_ > 0 || (on_progress && told < done_bytes_)) {
      if (on_progress && told < done_bytes_) {
        told = done_bytes_;
        lock.unlock();
        on_progress(told, plan_.answer.size_bytes);
        lock.lock();
        continue;
      }
      changed_.wait(lock);
    }
  }

  const ReadPlan& plan_;
  const StreamParams& params_;
  const ReadOnePart& read_;
  const std::vector<std::span<std::byte>> memory_;  // of the whole answer
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All below guarded by mutex_.
  size_t running_;
  uint64_t done_bytes_ = 0;
  absl::Status first_error_;
};

}  // namespace

std::optional<ReadPlan> PlanParallelRead(const TableSpec& spec, const Selection& selection, size_t streams) {
  const absl::StatusOr<LocalSlice> slice = LocalSlice::Make(spec, selection);
  if (!slice.ok()) return std::nullopt;
  const TableShape& shape = slice->generator().shape();
  const absl::StatusOr<SlicePlan> rows = ResolveSelection(selection, shape);
  if (!rows.ok() || !IsOneRunOfRows(shape, *rows)) return std::nullopt;
  ReadPlan plan{.answer = slice->info()};
  if (plan.answer.size_bytes < kMinParallelBytes || plan.answer.size_bytes > INT64_MAX) return std::nullopt;
  const RowRun run = rows->runs.front();
  const auto count = static_cast<int64_t>(streams);
  int64_t begin = run.begin;
  for (int64_t i = 1; i <= count; ++i) {
    const int64_t end = i == count ? run.end : AtBlock(run.begin + run.count() / count * i, shape.row_bytes());
    if (end <= begin) continue;
    ReadPart& part = plan.parts.emplace_back(ReadPart{selection, begin - run.begin, end - begin});
    part.selection.rows = Range{begin, end};
    begin = end;
  }
  if (plan.parts.size() < 2) return std::nullopt;
  return plan;
}

absl::Status ReadInParallel(const ReadPlan& plan, const StreamParams& params, const ReadOnePart& read,
                            const ReadProgress& on_progress) {
  auto memory = AskForDestinations(params, plan.answer);
  if (!memory.ok()) return memory.status();
  return ParallelReader(plan, params, read, *std::move(memory)).Run(on_progress);
}

}  // namespace posenc

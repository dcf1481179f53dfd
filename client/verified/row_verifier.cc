#include "client/verified/row_verifier.h"

#include <algorithm>
#include <system_error>

namespace posenc {
namespace {

// Enough for a thread never to wait for the network's next checksum.
constexpr size_t kWaitingPerThread = 4;

}  // namespace

std::vector<std::span<std::byte>> RowsWithin(const LocalSlice& slice,
                                             std::span<const std::span<std::byte>> memory,
                                             int64_t first_row, int64_t row_count) {
  std::vector<std::span<std::byte>> rows;
  for (size_t i = 0; i < memory.size(); ++i) {
    const int64_t row_bytes = slice.row_bytes(i);
    rows.push_back(memory[i].subspan(first_row * row_bytes, row_count * row_bytes));
  }
  return rows;
}

RowVerifier::RowVerifier(const LocalSlice& slice, std::span<const std::span<std::byte>> memory, int threads)
    : slice_(slice), memory_(memory) {
  try {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  } catch (const std::system_error&) {
    // No more threads to be had: those that run do the work.
  }
}

RowVerifier::~RowVerifier() { Close(); }

void RowVerifier::Add(const RowChecksum& rows) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < threads_.size() * kWaitingPerThread) {
      waiting_.push_back(rows);
      changed_.notify_one();
      return;
    }
  }
  Verify(rows);
}

void RowVerifier::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !waiting_.empty() || closed_; });
    if (waiting_.empty()) return;
    const RowChecksum rows = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    Verify(rows);
    lock.lock();
  }
}

void RowVerifier::Verify(const RowChecksum& rows) {
  const auto destinations = RowsWithin(slice_, memory_, rows.first_row, rows.row_count);
  slice_.Generate(rows.first_row, rows.row_count, destinations);
  // While the rows are in the CPU's cache.
  if (slice_.ChecksumOfRows(rows.row_count, destinations) == rows.crc32c) return;
  const std::lock_guard lock(mutex_);
  mismatches_.push_back(rows);
}

void RowVerifier::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::vector<RowChecksum> RowVerifier::Finish() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  Work();  // until nothing waits
  Close();
  std::ranges::sort(mismatches_, {}, &RowChecksum::first_row);
  return mismatches_;
}

}  // namespace posenc

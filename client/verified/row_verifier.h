// Computes rows of an answer and compares their checksums with those that the service has sent, on several
// threads.
//
// Threads: Add and Finish belong to one thread, which computes too whenever the others have enough to do.
// The threads live as long as the verifier. Ownership: refers to the slice and to the answer's memory.

#ifndef POSENC_CLIENT_VERIFIED_ROW_VERIFIER_H_
#define POSENC_CLIENT_VERIFIED_ROW_VERIFIER_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "client/local/local_slice.h"

namespace posenc {

// What the service says about rows [first_row, first_row + row_count) of the answer.
struct RowChecksum {
  int64_t first_row = 0;
  int64_t row_count = 0;
  uint32_t crc32c = 0;
};

// Returns the part of each tensor that holds the rows. `memory` is that of the whole answer.
std::vector<std::span<std::byte>> RowsWithin(const LocalSlice& slice,
                                             std::span<const std::span<std::byte>> memory,
                                             int64_t first_row, int64_t row_count);

class RowVerifier {
 public:
  // Starts threads − 1 threads, or fewer where there are no more to be had.
  RowVerifier(const LocalSlice& slice, std::span<const std::span<std::byte>> memory, int threads);
  ~RowVerifier();

  // Has the rows computed and compared, now or later.
  void Add(const RowChecksum& rows);

  // Waits for all of them. Returns those whose checksum is another one, in order. To be called once.
  std::vector<RowChecksum> Finish();

 private:
  void Work();
  void Verify(const RowChecksum& rows);
  void Close();

  const LocalSlice& slice_;
  const std::span<const std::span<std::byte>> memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All below guarded by mutex_.
  std::deque<RowChecksum> waiting_;
  std::vector<RowChecksum> mismatches_;
  bool closed_ = false;
  std::vector<std::thread> threads_;  // of the owner's thread alone
};

}  // namespace posenc

#endif  // POSENC_CLIENT_VERIFIED_ROW_VERIFIER_H_

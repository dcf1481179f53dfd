// One answer that comes from the service, from this process, or begins there and ends here.
//
// It knows which row comes next, so that Receive and Compute may follow each other.
//
// Threads: one, besides those that Compute starts and ends.

#ifndef POSENC_CLIENT_VERIFIED_VERIFIED_ANSWER_H_
#define POSENC_CLIENT_VERIFIED_VERIFIED_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/local/local_slice.h"
#include "client/verified/row_verifier.h"
#include "posenc/connection.h"

namespace posenc {

class VerifiedAnswer {
 public:
  // All of them must outlive the answer. `slice` is that of the params. Requires: there are rows.
  VerifiedAnswer(Connection& service, const LocalSlice& slice, const StreamParams& params)
      : service_(service), slice_(slice), params_(params), next_row_(params.skip_rows) {}

  // Streams the rows that are missing from the service, until `leave` says after a chunk that that is
  // enough; then the rest is still missing.
  absl::Status Receive(const std::function<bool(const Chunk& chunk)>& leave);

  // Computes the rows that are missing, and takes from the service those that it does not vouch for.
  // `threads` compute, one where params has a callback or no destinations. `on_rows` is told how many rows are done.
  absl::Status Compute(int threads, const std::function<void(int64_t rows_done)>& on_rows);

  // Whether the service's table is another one than the slice's. No row has been delivered then, and no
  // destination been asked for, unless has_begun: it changed while it was read.
  bool is_other_table() const { return is_other_table_; }
  bool has_begun() const { return is_open_; }
  bool is_complete() const { return next_row_ >= slice_.info().row_count; }

  int64_t verified_rows() const { return verified_rows_; }
  int64_t mismatched_rows() const { return mismatched_rows_; }
  int64_t mismatched_chunks() const { return mismatched_chunks_; }
  const std::string& last_mismatch() const { return last_mismatch_; }

 private:
  // The params of a call for the rows from `row` on.
  StreamParams Part(int64_t row) const;
  // Checks that the service means the same table, and asks for the memory at the first time.
  absl::Status Open(const SliceInfo& slice);
  absl::Status Deliver(const Chunk& chunk);
  absl::Status ComputeAtOnce(int threads, const std::function<void(int64_t)>& on_rows);
  absl::Status ComputeInOrder(const std::function<void(int64_t)>& on_rows);
  absl::Status ComputeChunk(const Chunk& checksum, std::vector<std::byte>& scratch);
  // Takes rows from the service, to the front of each destination.
  absl::Status Mend(const RowChecksum& rows, std::span<const std::span<std::byte>> destinations);
  void CountMismatch(const RowChecksum& rows);

  Connection& service_;
  const LocalSlice& slice_;
  const StreamParams& params_;
  const absl::Time begin_ = absl::Now();
  std::vector<std::span<std::byte>> memory_;  // of the whole answer, when the caller has it
  bool is_open_ = false;
  bool is_other_table_ = false;
  int64_t next_row_;
  int64_t verified_rows_ = 0;
  int64_t mismatched_rows_ = 0;
  int64_t mismatched_chunks_ = 0;
  std::string last_mismatch_;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_VERIFIED_VERIFIED_ANSWER_H_

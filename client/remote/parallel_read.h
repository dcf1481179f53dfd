// Cuts a large answer into parts that are read at the same time, into one piece of memory.
//
// Only where the rows of the answer are one run of the table's rows: a part is then a range of rows, an
// answer of its own, which resumes and is checked as any other. What the whole answer is, this process
// knows without asking.
//
// Threads: pure functions. ReadInParallel has a thread for each part, all of them gone when it returns.

#ifndef POSENC_CLIENT_REMOTE_PARALLEL_READ_H_
#define POSENC_CLIENT_REMOTE_PARALLEL_READ_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "posenc/connection.h"

namespace posenc {

// Below, one connection is as quick: the second one's handshake and slow start would eat what it gains.
constexpr uint64_t kMinParallelBytes = uint64_t{32} << 20;

struct ReadPart {
  Selection selection = {};
  int64_t first_row = 0;  // within the whole answer
  int64_t row_count = 0;
};

struct ReadPlan {
  SliceInfo answer = {};
  std::vector<ReadPart> parts = {};  // two at least, in the order of the rows
};

// Returns how to read an answer in at most `streams` parts; nothing when it is to be read in one: it is
// small, wrong, not one run of rows, or of a stored tensor, which this process does not know.
std::optional<ReadPlan> PlanParallelRead(const TableSpec& spec, const Selection& selection, size_t streams);

// Reads one part, as Connection::Stream does, and compares the header with what the part must be. Called by
// several threads at once.
using ReadOnePart = std::function<absl::Status(size_t part, const StreamParams& params)>;
using ReadProgress = std::function<void(uint64_t done_bytes, uint64_t total_bytes)>;

// Reads all parts into params.destinations, which is asked once; `on_progress` may be empty and is called by
// the calling thread. The first error stops the other parts and is returned.
absl::Status ReadInParallel(const ReadPlan& plan, const StreamParams& params, const ReadOnePart& read,
                            const ReadProgress& on_progress);

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_PARALLEL_READ_H_

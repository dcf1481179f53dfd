// What calls return, besides tables. Plain values; bytes are bytes, keys are 64 hex digits.

#ifndef POSENC_RESULTS_H_
#define POSENC_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "posenc/table.h"
#include "server/core/specs/spec.h"
#include "server/models/model_config.h"

namespace posenc {
inline namespace client_v1 {

// What a table is, without its numbers.
struct TableDescription {
  std::string key = {};
  TableSpec spec = {};              // normalised
  std::string canonical_text = {};  // what the key is the SHA-256 of
  std::vector<TensorInfo> tensors = {};
  uint64_t size_bytes = 0;     // of all tensors; 2^64 - 1 for more
  int64_t rows = 0;
  int64_t rows_per_block = 0;  // rows generated and cached together
  std::vector<double> inverse_frequencies = {};
  std::vector<double> slopes = {};  // ALiBi
  double magnitude = 1.0;      // factor on cos and sin, already in the table
  double softmax_scale = 1.0;  // factor for the model's scores besides 1/sqrt(head_dim)
  std::string error_bound = {};
  int64_t positions_begin = 0;  // positions that Gather takes: [begin, end)
  int64_t positions_end = 0;
  std::vector<std::string> notes = {};
  std::vector<int32_t> axis_of_pair = {};  // position axis of each rotated pair; empty with one axis
  int64_t position_axes = 1;               // coordinates of one position
  bool real_positions = false;             // whether Selection::real_positions is taken
};

// The whole answer that a stream delivers in pieces.
struct SliceInfo {
  std::string key = {};
  std::vector<TensorInfo> tensors = {};
  int64_t row_count = 0;  // leading dimensions multiplied
  uint64_t size_bytes = 0;

  friend bool operator==(const SliceInfo&, const SliceInfo&) = default;
};

// A run of whole rows of an answer. Valid during the callback only, unless the memory is the caller's.
struct Chunk {
  const SliceInfo& slice;
  int64_t first_row = 0;  // index within the answer's rows (heads and queries flattened)
  int64_t row_count = 0;
  std::span<const std::span<const std::byte>> tensors = {};  // these rows of each tensor
  // CRC-32C of these rows, one tensor after the other. With StreamParams::checksums_only alone.
  uint32_t crc32c = 0;
};

struct WarmProgress {
  std::string key = {};  // the table that made progress
  int64_t blocks_done = 0;
  int64_t blocks_total = 0;
  int64_t tables_done = 0;
  int64_t tables_total = 0;
};

// One table in a server's memory.
struct TableStatus {
  std::string key = {};
  TableSpec spec = {};
  uint64_t size_bytes = 0;  // of the whole table; 2^64 - 1 for more
  uint64_t resident_bytes = 0;
  int64_t resident_blocks = 0;
  int64_t total_blocks = 0;
  bool pinned = false;
};

struct TablePage {
  std::vector<TableStatus> tables = {};
  std::string next_page_token = {};  // empty on the last page
};

struct EvictedTables {
  int64_t tables = 0;
  int64_t blocks = 0;
  uint64_t bytes = 0;
};

struct CacheStatus {
  uint64_t limit_bytes = 0, resident_bytes = 0, pinned_bytes = 0, building_bytes = 0;
  uint64_t orphaned_bytes = 0;  // evicted, still being sent
  uint64_t waiting_requests = 0, hits = 0, misses = 0;
  uint64_t coalesced = 0;  // requests that waited for a block that another one was building
  uint64_t blocks_generated = 0, blocks_evicted = 0;
};

struct ServerStatus {
  std::string version = {}, revision = {}, compiler = {}, grpc_version = {}, protobuf_version = {};
  std::string kernel_target = {};  // instruction set of the kernels
  absl::Duration uptime = {};
  uint64_t max_unary_bytes = 0, block_bytes = 0;
  CacheStatus cache = {};
  bool ready = false, draining = false;
};

enum class HealthStatus : uint8_t { kUnknown = 0, kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_RESULTS_H_

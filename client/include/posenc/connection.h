// What a Client speaks through: one method for each thing that can be asked.
//
// Implementations: the service over gRPC, this process (both connect.h), a near cache (near_cache.h), and a
// mock for tests of your own code (mock_connection.h). Methods take one struct each, so that a field can be
// added without breaking implementations. Threads: any. Calls block; those of AsyncClient (async.h) do not.

#ifndef POSENC_CONNECTION_H_
#define POSENC_CONNECTION_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posenc/results.h"
#include "posenc/specs.h"
#include "posenc/table.h"

namespace posenc {
inline namespace client_v1 {

struct CallOptions {
  // For the whole call, retries included. Absent: ConnectionOptions::timeout, and one second more for
  // every 8 MiB of the answer. Never unlimited.
  std::optional<absl::Duration> timeout = {};
  std::stop_token stop = {};  // a stop ends a call to a service with Cancelled, at once and over there too
};

struct DescribeParams {
  TableSpec spec = {};
  bool with_content_digest = false;  // costs the generation of the whole table
  CallOptions call = {};
};

// A whole answer in one piece of memory.
struct FetchParams {
  TableSpec spec = {};
  Selection selection = {};
  CallOptions call = {};
  // Called now and then by the calling thread, for large answers only.
  std::function<void(uint64_t done_bytes, uint64_t total_bytes)> on_progress = {};
};

// Returns the memory of each tensor of the whole answer, in order.
using Destinations =
    std::function<absl::StatusOr<std::vector<std::span<std::byte>>>(const SliceInfo& slice)>;
// Anything but OK ends the stream, and is what the call returns.
using ChunkCallback = std::function<absl::Status(const Chunk& chunk)>;

struct StreamParams {
  TableSpec spec = {};
  Selection selection = {};
  int64_t skip_rows = 0;      // rows of the answer that are left out at its beginning
  Destinations destinations = {};  // absent: chunks are in memory that the next chunk overwrites
  ChunkCallback on_chunk = {};     // called by the calling thread, rows in order, each row once
  bool checksums_only = false;  // chunks without tensors; no destinations; see posenc/verified.h
  CallOptions call = {};
};

struct ResolveModelParams {
  ModelQuery query = {};
  CallOptions call = {};
};

struct WarmParams {
  std::vector<TableSpec> specs = {};
  bool unpinned = false;  // leaves the tables to ordinary eviction
  std::function<void(const WarmProgress&)> on_progress = {};
  CallOptions call = {};
};

struct ListTablesParams {
  std::string page_token = {};
  CallOptions call = {};
};

struct EvictParams {
  std::vector<std::string> keys = {};
  bool all = false;  // instead of keys
  CallOptions call = {};
};

class Connection {
 public:
  virtual ~Connection() = default;

  virtual absl::StatusOr<TableDescription> Describe(const DescribeParams& params) = 0;
  virtual absl::StatusOr<Table> Fetch(const FetchParams& params) = 0;
  virtual absl::Status Stream(const StreamParams& params) = 0;
  virtual absl::StatusOr<ModelTables> ResolveModel(const ResolveModelParams& params) = 0;
  virtual absl::Status Warm(const WarmParams& params) = 0;
  virtual absl::StatusOr<TablePage> ListTables(const ListTablesParams& params) = 0;
  virtual absl::StatusOr<EvictedTables> Evict(const EvictParams& params) = 0;
  virtual absl::StatusOr<ServerStatus> ServerInfo(const CallOptions& call) = 0;
  virtual absl::StatusOr<HealthStatus> Health(const CallOptions& call) = 0;

  // Returns what Fetch would where it is at hand already, and nothing where that needs a call.
  virtual std::optional<Table> Recall(const TableSpec&, const Selection&) { return std::nullopt; }

  // Begins a Fetch that blocks no thread, and returns true: `done` is called once, by another thread that
  // must not be kept; the connection must outlive it. False, or FailedPrecondition later: use Fetch.
  virtual bool FetchAsync(const FetchParams&, std::function<void(absl::StatusOr<Table>)>) { return false; }

  // Returns the health of a service that can be reached within the time, connecting (anew) where needed.
  virtual absl::StatusOr<HealthStatus> Probe(absl::Duration timeout) { return Health({.timeout = timeout}); }

  // Whether Fetch maps whole tables out of the service's memory, which nothing else is quicker than.
  virtual bool MapsTables(const CallOptions&) { return false; }
};

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_CONNECTION_H_

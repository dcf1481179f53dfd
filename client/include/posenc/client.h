// The client of posenc: tables, slices and rows of positional encodings, in one call each.
//
//   posenc::Client client(posenc::MakeConnection("dns:///posenc:50051"));
//   absl::StatusOr<posenc::Table> rope = client.Get(posenc::Rope{.head_dim = 128, .max_len = 131072});
//   if (!rope.ok()) return rope.status();
//   std::span<const float> cos = rope->tensor<float>("cos");
//
// Performance: numbers are copied once, from gRPC's buffers into the table's aligned memory. Answers up to
//   1 MiB come in one message, larger ones as a stream whose chunks are checked (CRC-32C) while the next
//   one arrives.
// Threads: any method, any thread, any time. A Client is a handle: copying it costs a reference count.
// Errors: absl::Status with the codes of the service. InvalidArgument and OutOfRange carry what is wrong
//   field by field (FieldViolationsOf). Unavailable and DeadlineExceeded name the target, the attempts and
//   the time. DataLoss: a stream that fails its checksum or ends early, again and again. Internal:
//   an answer that is none.
// Deadlines: always set, see CallOptions. Retries: see RetryOptions.

#ifndef POSENC_CLIENT_H_
#define POSENC_CLIENT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posenc/connect.h"
#include "posenc/connection.h"
#include "posenc/results.h"
#include "posenc/specs.h"
#include "posenc/table.h"

namespace posenc {
inline namespace client_v1 {

class Client {
 public:
  explicit Client(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  // Returns what a table is: key, tensors, sizes, frequencies, error bound.
  absl::StatusOr<TableDescription> Describe(const TableRequest& table, const CallOptions& call = {});

  // Returns a whole table.
  absl::StatusOr<Table> Get(const TableRequest& table, const CallOptions& call = {});

  // Returns a part of a table: rows, columns, heads, keys.
  //   client.Slice(posenc::Alibi{.heads = 12}, {.rows = posenc::Range{0, 1}, .keys = posenc::Range{0, 20}});
  absl::StatusOr<Table> Slice(const TableRequest& table, const Selection& selection,
                              const CallOptions& call = {});

  // Returns one row for each position, in any order, repeats allowed; negative positions too.
  // Errors: InvalidArgument for no position at all and for more than 65536.
  absl::StatusOr<Table> Gather(const TableRequest& table, std::vector<int64_t> positions,
                               const CallOptions& call = {});

  // Calls `on_chunk` for every chunk of a part of a table, in the order of the rows. The memory is reused
  // for the next chunk, so that a table of any size passes through a few MiB.
  absl::Status Stream(const TableRequest& table, const Selection& selection, ChunkCallback on_chunk,
                      const CallOptions& call = {});

  // Writes a part of a table into the caller's memory, one span for each tensor in the order of Describe.
  // Errors: InvalidArgument unless there are as many spans as tensors, each of exactly the tensor's bytes.
  absl::Status ReadInto(const TableRequest& table, const Selection& selection,
                        std::vector<std::span<std::byte>> destinations, const CallOptions& call = {});

  // Streams with every choice open: skipped rows, destinations that depend on the shape, chunks as well.
  absl::Status Stream(const StreamParams& params) { return connection_->Stream(params); }

  // Says which tables a model's file means, by the rules of a runtime, and where each value came from.
  //   client.ResolveModel({.config_json = text, .runtime = posenc::Runtime::kVllm});
  absl::StatusOr<ModelTables> ResolveModel(ModelQuery query, const CallOptions& call = {});

  // Makes the server generate tables ahead of their use, and pin them.
  absl::Status Warm(const WarmParams& params) { return connection_->Warm(params); }

  // Returns all tables in the server's memory, in the order of their keys; reads page after page.
  // Errors: DataLoss from a server that repeats a page or has more than 10000.
  absl::StatusOr<std::vector<TableStatus>> ListTables(const CallOptions& call = {});

  // Drops tables from the server's memory. Errors: NotFound for an unknown key.
  absl::StatusOr<EvictedTables> Evict(std::vector<std::string> keys, const CallOptions& call = {});
  absl::StatusOr<EvictedTables> EvictAll(const CallOptions& call = {});

  // Return what the server is and how it does.
  absl::StatusOr<ServerStatus> ServerInfo(const CallOptions& call = {});
  absl::StatusOr<HealthStatus> Health(const CallOptions& call = {});

 private:
  std::shared_ptr<Connection> connection_;
};

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_CLIENT_H_

// A service without a network: answers as the local connection, chunk by chunk, and breaks as a test wants.

#ifndef POSENC_TESTS_UNIT_CLIENT_SCRIPTED_CONNECTION_H_
#define POSENC_TESTS_UNIT_CLIENT_SCRIPTED_CONNECTION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "posenc/client.h"

namespace posenc {

class ScriptedConnection : public Connection {
 public:
  // What every call begins with; not OK ends it.
  std::function<absl::Status()> on_call = [] { return absl::OkStatus(); };
  // Called before each chunk of a stream; not OK ends the stream.
  std::function<absl::Status(int64_t first_row)> on_chunk = [](int64_t) { return absl::OkStatus(); };
  // Rows whose first byte this service has otherwise, in streams and their checksums.
  std::vector<int64_t> other_rows = {};
  std::optional<TableSpec> other_table = {};  // what it takes every spec for
  uint32_t checksum_error = 0;                // is added to every checksum
  int64_t rows_per_chunk = 1 << 20;
  HealthStatus health = HealthStatus::kServing;
  bool maps_tables = false;

  // "Fetch", "Stream 0", "Checksums 4", with the skipped rows, in the order of the calls.
  const std::vector<std::string>& calls() const { return calls_; }
  void ForgetCalls() { calls_.clear(); }
  // Of the streams, in the same order.
  const std::vector<std::optional<absl::Duration>>& timeouts() const { return timeouts_; }

  absl::StatusOr<TableDescription> Describe(const DescribeParams& params) override;
  absl::StatusOr<Table> Fetch(const FetchParams& params) override;
  absl::Status Stream(const StreamParams& params) override;
  absl::StatusOr<ModelTables> ResolveModel(const ResolveModelParams& params) override;
  absl::Status Warm(const WarmParams&) override { return Begin("Warm"); }
  absl::StatusOr<TablePage> ListTables(const ListTablesParams&) override;
  absl::StatusOr<EvictedTables> Evict(const EvictParams&) override;
  absl::StatusOr<ServerStatus> ServerInfo(const CallOptions&) override;
  absl::StatusOr<HealthStatus> Health(const CallOptions&) override;
  bool MapsTables(const CallOptions&) override { return maps_tables; }

 private:
  // A whole answer, as this service has it.
  struct Answer {
    SliceInfo slice;
    std::vector<std::vector<std::byte>> tensors;
    size_t RowBytes(size_t tensor) const { return tensors[tensor].size() / slice.row_count; }
  };

  absl::Status Begin(const std::string& call);
  absl::Status Read(const StreamParams& params, Answer& answer);
  absl::Status SendChunk(const StreamParams& params, const Answer& answer, int64_t first_row,
                         int64_t row_count, const std::vector<std::span<std::byte>>& destinations);

  const std::shared_ptr<Connection> local_ = MakeLocalConnection();
  std::vector<std::string> calls_;
  std::vector<std::optional<absl::Duration>> timeouts_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_CLIENT_SCRIPTED_CONNECTION_H_

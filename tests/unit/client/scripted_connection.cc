#include "tests/unit/client/scripted_connection.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "server/core/crc32c.h"

namespace posenc {

absl::Status ScriptedConnection::Begin(const std::string& call) {
  calls_.push_back(call);
  const auto react = on_call;  // which may replace itself
  return react();
}

absl::StatusOr<TableDescription> ScriptedConnection::Describe(const DescribeParams& params) {
  if (absl::Status status = Begin("Describe"); !status.ok()) return status;
  return local_->Describe(params);
}

absl::StatusOr<Table> ScriptedConnection::Fetch(const FetchParams& params) {
  if (absl::Status status = Begin("Fetch"); !status.ok()) return status;
  FetchParams meant = params;
  meant.spec = other_table.value_or(params.spec);
  return local_->Fetch(meant);
}

absl::Status ScriptedConnection::Read(const StreamParams& params, Answer& answer) {
  const TableSpec spec = other_table.value_or(params.spec);
  absl::Status status = local_->Stream(
      {.spec = spec, .selection = params.selection, .on_chunk = [&](const Chunk& chunk) {
        answer.slice = chunk.slice;
        answer.tensors.resize(chunk.tensors.size());
        for (size_t i = 0; i < chunk.tensors.size(); ++i) {
          answer.tensors[i].insert(answer.tensors[i].end(), chunk.tensors[i].begin(), chunk.tensors[i].end());
        }
        return absl::OkStatus();
      }});
  for (int64_t row : other_rows) answer.tensors[0][row * answer.RowBytes(0)] ^= std::byte{1};
  return status;
}

absl::Status ScriptedConnection::SendChunk(const StreamParams& params, const Answer& answer,
                                           int64_t first_row, int64_t row_count,
                                           const std::vector<std::span<std::byte>>& destinations) {
  uint32_t crc32c = checksum_error;
  std::vector<std::span<const std::byte>> tensors;
  for (size_t i = 0; i < answer.tensors.size(); ++i) {
    const size_t row_bytes = answer.RowBytes(i);
    tensors.push_back(std::span(answer.tensors[i]).subspan(first_row * row_bytes, row_count * row_bytes));
    crc32c = ExtendCrc32c(crc32c, tensors.back());
    if (!destinations.empty()) {
      std::memcpy(destinations[i].data() + first_row * row_bytes, tensors[i].data(), tensors[i].size());
    }
  }
  if (!params.on_chunk) return absl::OkStatus();
  if (params.checksums_only) tensors.clear();
  return params.on_chunk({.slice = answer.slice,
                          .first_row = first_row,
                          .row_count = row_count,
                          .tensors = tensors,
                          .crc32c = crc32c});
}

absl::Status ScriptedConnection::Stream(const StreamParams& params) {
  timeouts_.push_back(params.call.timeout);
  const char* kind = params.checksums_only ? "Checksums " : "Stream ";
  if (absl::Status status = Begin(absl::StrCat(kind, params.skip_rows)); !status.ok()) return status;
  Answer answer;
  if (absl::Status status = Read(params, answer); !status.ok()) return status;
  std::vector<std::span<std::byte>> destinations;
  if (params.destinations && !params.checksums_only) {
    auto memory = params.destinations(answer.slice);
    if (!memory.ok()) return memory.status();
    destinations = *std::move(memory);
  }
  const int64_t rows = answer.slice.row_count;
  for (int64_t row = params.skip_rows; row < rows; row += rows_per_chunk) {
    if (absl::Status status = on_chunk(row); !status.ok()) return status;
    absl::Status status = SendChunk(params, answer, row, std::min(rows_per_chunk, rows - row), destinations);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelTables> ScriptedConnection::ResolveModel(const ResolveModelParams& params) {
  if (absl::Status status = Begin("ResolveModel"); !status.ok()) return status;
  return local_->ResolveModel(params);
}

absl::StatusOr<TablePage> ScriptedConnection::ListTables(const ListTablesParams&) {
  if (absl::Status status = Begin("ListTables"); !status.ok()) return status;
  return TablePage();
}

absl::StatusOr<EvictedTables> ScriptedConnection::Evict(const EvictParams&) {
  if (absl::Status status = Begin("Evict"); !status.ok()) return status;
  return EvictedTables();
}

absl::StatusOr<ServerStatus> ScriptedConnection::ServerInfo(const CallOptions&) {
  if (absl::Status status = Begin("ServerInfo"); !status.ok()) return status;
  return ServerStatus();
}

absl::StatusOr<HealthStatus> ScriptedConnection::Health(const CallOptions&) {
  if (absl::Status status = Begin("Health"); !status.ok()) return status;
  return health;
}

}  // namespace posenc

#include "client/remote/message_codec.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "posenc/table_builder.h"
#include "proto/spec_codec.h"

namespace posenc {
namespace {

absl::Status Unknown(absl::string_view message, absl::string_view what) {
  return absl::InternalError(absl::StrCat("the server's ", message, " has ", what,
                                          "; is this client older than the server?"));
}

absl::StatusOr<std::vector<TensorInfo>> DecodeTensors(
    const google::protobuf::RepeatedPtrField<v1::TensorInfo>& messages) {
  std::vector<TensorInfo> tensors;
  for (const v1::TensorInfo& message : messages) {
    absl::StatusOr<TensorInfo> tensor = DecodeTensorInfo(message);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

Pairing DecodePairing(v1::Pairing pairing) {
  switch (pairing) {
    case v1::PAIRING_HALF_SPLIT:
      return Pairing::kHalfSplit;
    case v1::PAIRING_INTERLEAVED:
      return Pairing::kInterleaved;
    default:
      return Pairing::kNone;
  }
}

}  // namespace

absl::StatusOr<TensorInfo> DecodeTensorInfo(const v1::TensorInfo& message) {
  const absl::StatusOr<ElementType> type = DecodeElementType(message.element_type());
  if (!type.ok()) return type.status();
  return TensorInfo{.name = message.name(),
                    .element_type = *type,
                    .shape = {message.shape().begin(), message.shape().end()},
                    .content_sha256 = absl::BytesToHexString(message.content_sha256())};
}

absl::StatusOr<SliceInfo> DecodeSliceHeader(const v1::SliceHeader& message) {
  absl::StatusOr<std::vector<TensorInfo>> tensors = DecodeTensors(message.tensors());
  if (!tensors.ok()) return Unknown("header", "an unknown element type");
  SliceInfo slice{.key = message.table_key(),
                  .tensors = *std::move(tensors),
                  .row_count = message.row_count(),
                  .size_bytes = message.size_bytes()};
  uint64_t total = 0;
  for (const TensorInfo& tensor : slice.tensors) {
    const std::optional<int64_t> bytes = TensorBytes(tensor);
    const bool whole_rows = bytes && slice.row_count > 0 && *bytes % slice.row_count == 0;
    const bool no_rows = bytes && slice.row_count == 0 && *bytes == 0;
    if (!whole_rows && !no_rows) return Unknown("header", "a tensor that is no rows");
    if (__builtin_add_overflow(total, static_cast<uint64_t>(*bytes), &total)) {
      return Unknown("header", "tensors beyond 2^64 bytes");
    }
  }
  if (total != slice.size_bytes) return Unknown("header", "a size that is not its tensors'");
  return slice;
}

absl::StatusOr<TableDescription> DecodeDescription(const v1::DescribeTableResponse& message) {
  const absl::StatusOr<TableSpec> spec = DecodeSpec(message.spec());
  if (!spec.ok()) return Unknown("description", "an unknown spec");
  absl::StatusOr<std::vector<TensorInfo>> tensors = DecodeTensors(message.tensors());
  if (!tensors.ok()) return Unknown("description", "an unknown element type");
  return TableDescription{
      .key = message.table_key(),
      .spec = *spec,
      .canonical_text = message.canonical_text(),
      .tensors = *std::move(tensors),
      .size_bytes = message.size_bytes(),
      .rows = message.rows(),
      .rows_per_block = message.rows_per_block(),
      .inverse_frequencies = {message.inverse_frequencies().begin(),
                              message.inverse_frequencies().end()},
      .slopes = {message.slopes().begin(), message.slopes().end()},
      .magnitude = message.magnitude(),
      .softmax_scale = message.softmax_scale(),
      .error_bound = message.error_bound(),
      .positions_begin = message.positions_begin(),
      .positions_end = message.positions_end(),
      .notes = {message.notes().begin(), message.notes().end()},
      .axis_of_pair = {message.axis_of_pair().begin(), message.axis_of_pair().end()},
      .position_axes = message.position_axes(),
      .real_positions = message.real_positions(),
  };
}

absl::StatusOr<ModelTables> DecodeModelTables(const v1::ResolveModelResponse& message) {
  ModelTables model;
  model.model_type = message.model_type();
  model.known_family = message.known_family();
  model.notes.assign(message.notes().begin(), message.notes().end());
  model.layers_without_table.assign(message.layers_without_table().begin(), message.layers_without_table().end());
  for (const v1::ModelTable& from : message.tables()) {
    const absl::StatusOr<TableSpec> spec = DecodeSpec(from.spec());
    if (!spec.ok()) return Unknown("model answer", "an unknown spec");
    ModelTable& table = model.tables.emplace_back();
    table.name = from.name();
    table.spec = *spec;
    table.pairing = DecodePairing(from.pairing());
    table.softmax_scale = from.softmax_scale();
    table.magnitude = from.magnitude();
    table.rotary_begin = from.rotary_begin();
    table.applies_to = from.applies_to();
    table.layers.assign(from.layers().begin(), from.layers().end());
    for (const v1::ValueOrigin& origin : from.origins()) {
      table.origins.push_back(
          {origin.field(), origin.value(), origin.source(), origin.defaulted(), origin.assumed()});
    }
  }
  return model;
}

absl::StatusOr<TablePage> DecodeTablePage(const v1::ListTablesResponse& message) {
  TablePage page{.next_page_token = message.next_page_token()};
  for (const v1::TableStatus& from : message.tables()) {
    const absl::StatusOr<TableSpec> spec = DecodeSpec(from.spec());
    if (!spec.ok()) return Unknown("list of tables", "an unknown spec");
    page.tables.push_back({.key = from.table_key(),
                           .spec = *spec,
                           .size_bytes = from.size_bytes(),
                           .resident_bytes = from.resident_bytes(),
                           .resident_blocks = from.resident_blocks(),
                           .total_blocks = from.total_blocks(),
                           .pinned = from.pinned()});
  }
  return page;
}

ServerStatus DecodeServerStatus(const v1::GetServerInfoResponse& message) {
  const v1::CacheStatus& cache = message.cache();
  return {.version = message.version(),
          .revision = message.revision(),
          .compiler = message.compiler(),
          .grpc_version = message.grpc_version(),
          .protobuf_version = message.protobuf_version(),
          .kernel_target = message.kernel_target(),
          .uptime = absl::Seconds(message.uptime_seconds()),
          .max_unary_bytes = message.max_unary_bytes(),
          .block_bytes = message.block_bytes(),
          .cache = {.limit_bytes = cache.limit_bytes(),
                    .resident_bytes = cache.resident_bytes(),
                    .pinned_bytes = cache.pinned_bytes(),
                    .building_bytes = cache.building_bytes(),
                    .orphaned_bytes = cache.orphaned_bytes(),
                    .waiting_requests = cache.waiting_requests(),
                    .hits = cache.hits(),
                    .misses = cache.misses(),
                    .coalesced = cache.coalesced(),
                    .blocks_generated = cache.blocks_generated(),
                    .blocks_evicted = cache.blocks_evicted()},
          .ready = message.ready(),
          .draining = message.draining()};
}

}  // namespace posenc

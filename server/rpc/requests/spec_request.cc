#include "server/rpc/requests/spec_request.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <memory>

#include "posenc/v1/positional_encoding_service.pb.h"
#include "proto/spec_codec.h"

namespace posenc {
namespace {

// Field 1, length-delimited.
constexpr char kSpecTag = (1 << 3) | 2;
static_assert(v1::GetSliceRequest::kSpecFieldNumber == 1);
static_assert(v1::StreamSliceRequest::kSpecFieldNumber == 1);

}  // namespace

SpecParts SplitLeadingSpec(absl::string_view message) {
  const SpecParts none{.spec = {}, .rest = message};
  if (message.empty() || message.front() != kSpecTag) return none;
  const absl::string_view body = message.substr(1);
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(body.data()),
                                               static_cast<int>(body.size()));
  uint32_t length = 0;
  if (!input.ReadVarint32(&length)) return none;
  const auto begin = static_cast<size_t>(input.CurrentPosition());
  if (length > body.size() - begin) return none;
  return {.spec = body.substr(begin, length), .rest = body.substr(begin + length)};
}

absl::StatusOr<KeyedSpecPtr> DecodeKeyedSpec(const v1::TableSpec& spec, const TensorCatalog& catalog) {
  absl::StatusOr<TableSpec> normalized = DecodeNormalizedSpec(spec, catalog);
  if (!normalized.ok()) return normalized.status();
  const TableKey key = KeyOf(*normalized);
  return std::make_shared<const KeyedSpec>(KeyedSpec{*std::move(normalized), key});
}

}  // namespace posenc

// Between posenc.v1.TableSpec and the core struct, field by field
// (record_reader.h). Decoding checks only what the struct
// cannot hold (unknown enum numbers, a missing family); Normalize checks the rest. Pure functions.

#ifndef POSENC_PROTO_SPEC_CODEC_H_
#define POSENC_PROTO_SPEC_CODEC_H_

#include "absl/status/statusor.h"
#include "posenc/v1/spec.pb.h"
#include "server/core/specs/spec.h"
#include "server/core/tensor_catalog.h"

namespace posenc {

// Returns the struct with absent fields at their defaults.
// Errors: InvalidArgument with violations, paths such as "spec.rope.layout", "spec.family".
absl::StatusOr<TableSpec> DecodeSpec(const v1::TableSpec& message);

// Decodes, normalises and binds stored tensors of `catalog`; violations' paths begin with "spec.".
absl::StatusOr<TableSpec> DecodeNormalizedSpec(const v1::TableSpec& message,
                                               const TensorCatalog& catalog = EmptyCatalog());

// Returns the message of a struct; every optional field is set.
v1::TableSpec EncodeSpec(const TableSpec& spec);

v1::ElementType EncodeElementType(ElementType type);

// Errors: InvalidArgument for a number that is no element type; UNSPECIFIED stays so.
absl::StatusOr<ElementType> DecodeElementType(v1::ElementType type);

}  // namespace posenc

#endif  // POSENC_PROTO_SPEC_CODEC_H_

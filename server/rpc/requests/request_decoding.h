// From the messages of requests to core structs, with every violation of a request in one status.
// Pure functions.

#ifndef POSENC_SERVER_RPC_REQUESTS_REQUEST_DECODING_H_
#define POSENC_SERVER_RPC_REQUESTS_REQUEST_DECODING_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <vector>

#include "absl/status/statusor.h"
#include "posenc/v1/slice.pb.h"
#include "posenc/v1/spec.pb.h"
#include "server/core/selection.h"
#include "server/core/specs/spec.h"
#include "server/core/tensor_catalog.h"

namespace posenc {

// Decodes the selection of a request that may have a spec that is not valid.
// Errors: InvalidArgument with the violations of the spec and those of the selection.
absl::StatusOr<Selection> DecodeSelectionOf(const absl::Status& spec, const v1::Selection& selection);

// Decodes and normalises a list of specs.
// Errors: InvalidArgument for an empty list ("specs"), and with paths such as "specs[2].rope.head_dim" for
// the first spec that is not valid.
absl::StatusOr<std::vector<TableSpec>> DecodeSpecs(
    const google::protobuf::RepeatedPtrField<v1::TableSpec>& specs, const TensorCatalog& catalog);

// Returns a status of `code` with one violation: "`field` `description`".
absl::Status FieldError(absl::StatusCode code, absl::string_view field, std::string description);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_REQUESTS_REQUEST_DECODING_H_

// From the messages of posenc.v1 to what this library returns. Pure functions.
//
// Errors: Internal, naming the message, for one that holds what this library does not know.

#ifndef POSENC_CLIENT_REMOTE_MESSAGE_CODEC_H_
#define POSENC_CLIENT_REMOTE_MESSAGE_CODEC_H_

#include "absl/status/statusor.h"
#include "posenc/results.h"
#include "posenc/v1/positional_encoding_service.pb.h"
#include "posenc/v1/table_admin_service.pb.h"

namespace posenc {

absl::StatusOr<TensorInfo> DecodeTensorInfo(const v1::TensorInfo& message);

// Also refuses a header whose row_count and size_bytes contradict its tensors.
absl::StatusOr<SliceInfo> DecodeSliceHeader(const v1::SliceHeader& message);

absl::StatusOr<TableDescription> DecodeDescription(const v1::DescribeTableResponse& message);
absl::StatusOr<ModelTables> DecodeModelTables(const v1::ResolveModelResponse& message);
absl::StatusOr<TablePage> DecodeTablePage(const v1::ListTablesResponse& message);
ServerStatus DecodeServerStatus(const v1::GetServerInfoResponse& message);

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_MESSAGE_CODEC_H_

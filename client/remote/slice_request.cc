#include "client/remote/slice_request.h"

#include "posenc/v1/positional_encoding_service.pb.h"
#include "proto/record_wire.h"
#include "proto/selection_codec.h"
#include "proto/spec_wire.h"

namespace posenc {

std::string GetSliceRequestBytes(const TableSpec& spec, const Selection& selection) {
  static const ProtoMessageType& message = *v1::GetSliceRequest::descriptor();
  static const ProtoField& spec_field = *message.FindFieldByNumber(v1::GetSliceRequest::kSpecFieldNumber);
  static const ProtoField& selection_field =
      *message.FindFieldByNumber(v1::GetSliceRequest::kSelectionFieldNumber);
  std::string bytes;
  bytes.reserve(320);
  AppendBytes(spec_field, EncodeSpecBytes(spec), bytes);
  AppendBytes(selection_field, EncodeSelection(selection).SerializeAsString(), bytes);
  return bytes;
}

}  // namespace posenc

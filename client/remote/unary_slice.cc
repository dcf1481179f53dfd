#include "client/remote/unary_slice.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/remote/slice_frame.h"
#include "posenc/table_builder.h"

namespace posenc {

absl::StatusOr<Table> TableFrom(grpc::ByteBuffer& message, const ExpectedAnswer& expected, uint64_t max_bytes) {
  absl::StatusOr<Frame> frame = ParseFrame(FrameKind::kGetSlice, message);
  if (!frame.ok()) return frame.status();
  std::vector<TensorInfo> infos;
  for (const FrameTensor& tensor : frame->tensors) {
    if (TensorBytes(tensor.info) != tensor.data_bytes) {
      return absl::InternalError(
          absl::StrCat("the server sent a tensor '", tensor.info.name, "' that is not of its shape"));
    }
    infos.push_back(tensor.info);
  }
  if (absl::Status status = CheckAnswer(expected, frame->key, infos); !status.ok()) return status;
  absl::StatusOr<TableBuilder> builder =
      TableBuilder::Allocate(std::move(frame->key), std::move(infos), max_bytes);
  if (!builder.ok()) return builder.status();
  FrameReader reader(message);
  for (size_t i = 0; i < frame->tensors.size(); ++i) {
    // TCP's own checksums must do for one small message.
    absl::Status status = reader.Copy(frame->tensors[i], builder->data()[i], nullptr);
    if (!status.ok()) return status;
  }
  return (*std::move(builder)).Build();
}

}  // namespace posenc

#include "server/rpc/slice_frame.h"

#include <utility>

#include "posenc/v1/positional_encoding_service.pb.h"
#include "posenc/v1/slice.pb.h"
#include "proto/spec_codec.h"

namespace posenc {
namespace {

constexpr int kPayloadField = 15;
constexpr int kLengthDelimited = 2;
constexpr char kPayloadTag = (kPayloadField << 3) | kLengthDelimited;
static_assert(v1::Tensor::kDataFieldNumber == kPayloadField);
static_assert(v1::GetSliceResponse::kTensorsFieldNumber == kPayloadField);
static_assert(v1::StreamSliceResponse::kTensorsFieldNumber == kPayloadField);

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
}

// The tensor's message up to its data: small fields, tag and length. Without data it is the whole message,
// as protobuf leaves empty bytes out.
std::string TensorHead(const TensorPart& part, size_t data_bytes) {
  v1::Tensor message;
  message.set_name(part.tensor->name);
  message.set_element_type(EncodeElementType(part.tensor->element_type));
  message.mutable_shape()->Add(part.dims.begin(), part.dims.end());
  std::string head = message.SerializeAsString();
  if (data_bytes > 0) {
    head.push_back(kPayloadTag);
    AppendVarint(data_bytes, head);
  }
  return head;
}

}  // namespace

Frame FrameTensors(std::string fields, std::vector<TensorPart> tensors) {
  Frame frame;
  std::string head = std::move(fields);
  for (TensorPart& part : tensors) {
    size_t data_bytes = 0;
    for (const SharedBytes& data : part.data) data_bytes += data.bytes.size();
    const std::string tensor_head = TensorHead(part, data_bytes);
    head.push_back(kPayloadTag);
    AppendVarint(tensor_head.size() + data_bytes, head);
    head.append(tensor_head);
    for (SharedBytes& data : part.data) {
      if (data.bytes.empty()) continue;
      frame.push_back({std::exchange(head, std::string()), std::move(data)});
    }
  }
  if (!head.empty()) frame.push_back({std::move(head), {}});
  return frame;
}

Frame FrameMessage(const google::protobuf::MessageLite& message) {
  Frame frame;
  frame.push_back({message.SerializeAsString(), {}});
  return frame;
}

}  // namespace posenc

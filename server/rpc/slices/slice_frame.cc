#include "server/rpc/slices/slice_frame.h"

#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "posenc/v1/positional_encoding_service.pb.h"
#include "posenc/v1/slice.pb.h"
#include "proto/spec_codec.h"

namespace posenc {
namespace {

enum WireType : uint8_t { kVarint = 0, kLengthDelimited = 2 };

constexpr char Tag(int field, WireType type) { return static_cast<char>((field << 3) | type); }

constexpr char kPayloadTag = Tag(15, kLengthDelimited);
static_assert(v1::Tensor::kDataFieldNumber == 15);
static_assert(v1::GetSliceResponse::kTensorsFieldNumber == 15);
static_assert(v1::StreamSliceResponse::kTensorsFieldNumber == 15);

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
}

// Like protobuf, leaves a field at its default out.
void AppendBytes(int field, absl::string_view bytes, std::string& out) {
  if (bytes.empty()) return;
  out.push_back(Tag(field, kLengthDelimited));
  AppendVarint(bytes.size(), out);
  out.append(bytes.data(), bytes.size());
}

// The tensor's message up to its data: small fields, tag and length. Without data it is the whole message,
// as protobuf leaves empty bytes out.
std::string TensorHead(const TensorPart& part, size_t data_bytes) {
  std::string head;
  head.reserve(64);
  AppendBytes(v1::Tensor::kNameFieldNumber, part.tensor->name, head);
  if (const v1::ElementType type = EncodeElementType(part.tensor->element_type); type != 0) {
    head.push_back(Tag(v1::Tensor::kElementTypeFieldNumber, kVarint));
    AppendVarint(type, head);
  }
  std::string shape;
  for (const int64_t dim : part.dims) AppendVarint(static_cast<uint64_t>(dim), shape);
  AppendBytes(v1::Tensor::kShapeFieldNumber, shape, head);
  if (data_bytes > 0) {
    head.push_back(kPayloadTag);
    AppendVarint(data_bytes, head);
  }
  return head;
}

}  // namespace

std::string TableKeyField(const TableKey& key) {
  std::string field;
  field.reserve(160);  // and the head of a tensor, which follows
  AppendBytes(v1::GetSliceResponse::kTableKeyFieldNumber, key.ToHex(), field);
  return field;
}

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

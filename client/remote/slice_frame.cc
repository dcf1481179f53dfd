#include "client/remote/slice_frame.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "client/remote/message_codec.h"
#include "posenc/v1/positional_encoding_service.pb.h"
#include "proto/spec_codec.h"
#include "server/core/crc32c.h"

namespace posenc {
namespace {

using google::protobuf::internal::WireFormatLite;
using Input = google::protobuf::io::CodedInputStream;

// More than any table has, and few enough to bound what a hostile message costs.
constexpr size_t kMaxTensors = 16;
constexpr int kMaxDims = 16;
// A header becomes messages and strings that take a hundred times its size.
constexpr int kMaxHeaderBytes = 64 << 10;

constexpr uint32_t Varint(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_VARINT);
}
constexpr uint32_t Bytes(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}
constexpr uint32_t Fixed32(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_FIXED32);
}

// Reads the length of a field that lies within the message.
bool ReadLength(Input& input, int& length) {
  uint32_t value = 0;
  if (!input.ReadVarint32(&value)) return false;
  if (value > static_cast<uint32_t>(std::max(input.BytesUntilLimit(), 0))) return false;
  length = static_cast<int>(value);
  return true;
}

bool ReadText(Input& input, std::string& text) {
  int length = 0;
  return ReadLength(input, length) && input.ReadString(&text, length);
}

bool ReadInt64(Input& input, int64_t& number) {
  uint64_t value = 0;
  if (!input.ReadVarint64(&value)) return false;
  number = static_cast<int64_t>(value);
  return true;
}

bool AddDim(Input& input, std::vector<int64_t>& shape) {
  int64_t dim = 0;
  if (shape.size() >= kMaxDims || !ReadInt64(input, dim)) return false;
  shape.push_back(dim);
  return true;
}

bool ReadPackedShape(Input& input, std::vector<int64_t>& shape) {
  int length = 0;
  if (!ReadLength(input, length)) return false;
  const Input::Limit limit = input.PushLimit(length);
  while (input.BytesUntilLimit() > 0) {
    if (!AddDim(input, shape)) return false;
  }
  input.PopLimit(limit);
  return true;
}

bool ReadElementType(Input& input, ElementType& type) {
  int64_t number = 0;
  if (!ReadInt64(input, number) || number != static_cast<int>(number)) return false;
  const auto decoded = DecodeElementType(static_cast<v1::ElementType>(number));
  if (!decoded.ok()) return false;
  type = *decoded;
  return true;
}

// Remembers where the numbers are and steps over them.
bool SkipData(Input& input, FrameTensor& tensor) {
  int length = 0;
  if (tensor.data_begin != 0 || !ReadLength(input, length)) return false;
  tensor.data_begin = input.CurrentPosition();
  tensor.data_bytes = length;
  return input.Skip(length);
}

bool ReadTensorField(Input& input, uint32_t tag, FrameTensor& tensor) {
  switch (tag) {
    case Bytes(v1::Tensor::kNameFieldNumber):
      return ReadText(input, tensor.info.name);
    case Varint(v1::Tensor::kElementTypeFieldNumber):
      return ReadElementType(input, tensor.info.element_type);
    case Bytes(v1::Tensor::kShapeFieldNumber):
      return ReadPackedShape(input, tensor.info.shape);
    case Varint(v1::Tensor::kShapeFieldNumber):
      return AddDim(input, tensor.info.shape);
    case Bytes(v1::Tensor::kDataFieldNumber):
      return SkipData(input, tensor);
    default:
      return WireFormatLite::SkipField(&input, tag);
  }
}

// Reads fields up to the limit that is set.
template <typename ReadField>
bool ReadFields(Input& input, ReadField read_field) {
  while (input.BytesUntilLimit() > 0) {
    const uint32_t tag = input.ReadTag();
    if (tag == 0 || !read_field(tag)) return false;
  }
  return true;
}

bool ReadTensor(Input& input, std::vector<FrameTensor>& tensors) {
  int length = 0;
  if (tensors.size() >= kMaxTensors || !ReadLength(input, length)) return false;
  FrameTensor tensor;
  const Input::Limit limit = input.PushLimit(length);
  const bool read =
      ReadFields(input, [&](uint32_t tag) { return ReadTensorField(input, tag, tensor); });
  input.PopLimit(limit);
  tensors.push_back(std::move(tensor));
  return read;
}

bool ReadHeader(Input& input, Frame& frame) {
  int length = 0;
  std::string text;
  v1::SliceHeader message;
  if (!ReadLength(input, length) || length > kMaxHeaderBytes || !input.ReadString(&text, length)) return false;
  if (!message.ParseFromString(text)) return false;
  absl::StatusOr<SliceInfo> header = DecodeSliceHeader(message);
  if (!header.ok() || header->tensors.size() > kMaxTensors) return false;
  frame.header = *std::move(header);
  return true;
}

bool ReadGetSliceField(Input& input, uint32_t tag, Frame& frame) {
  switch (tag) {
    case Bytes(v1::GetSliceResponse::kTableKeyFieldNumber):
      return ReadText(input, frame.key);
    case Bytes(v1::GetSliceResponse::kTensorsFieldNumber):
      return ReadTensor(input, frame.tensors);
    default:
      return WireFormatLite::SkipField(&input, tag);
  }
}

bool ReadStreamSliceField(Input& input, uint32_t tag, Frame& frame) {
  switch (tag) {
    case Bytes(v1::StreamSliceResponse::kHeaderFieldNumber):
      return ReadHeader(input, frame);
    case Varint(v1::StreamSliceResponse::kFirstRowFieldNumber):
      return ReadInt64(input, frame.first_row);
    case Varint(v1::StreamSliceResponse::kRowCountFieldNumber):
      return ReadInt64(input, frame.row_count);
    case Fixed32(v1::StreamSliceResponse::kCrc32CFieldNumber):
      return input.ReadLittleEndian32(&frame.crc32c);
    case Bytes(v1::StreamSliceResponse::kTensorsFieldNumber):
      return ReadTensor(input, frame.tensors);
    default:
      return WireFormatLite::SkipField(&input, tag);
  }
}

}  // namespace

absl::StatusOr<Frame> ParseFrame(FrameKind kind, grpc::ByteBuffer& message) {
  const auto malformed = [] { return absl::InternalError("the server sent a malformed message"); };
  // Protobuf counts in int; nothing that a server of ours sends comes near.
  if (message.Length() > INT32_MAX) return malformed();
  if (message.Length() == 0) return Frame();  // every field at its default
  grpc::ProtoBufferReader reader(&message);
  if (!reader.status().ok()) return malformed();
  Input input(&reader);
  input.PushLimit(static_cast<int>(message.Length()));
  Frame frame;
  const bool read = ReadFields(input, [&](uint32_t tag) {
    return kind == FrameKind::kGetSlice ? ReadGetSliceField(input, tag, frame)
                                        : ReadStreamSliceField(input, tag, frame);
  });
  if (!read) return malformed();
  return frame;
}

absl::Status FrameReader::Copy(const FrameTensor& tensor, std::span<std::byte> destination,
                               uint32_t* crc32c) {
  if (destination.empty()) return absl::OkStatus();
  const auto shorter = [] { return absl::InternalError("a message became shorter while it was read"); };
  if (!reader_.Skip(static_cast<int>(tensor.data_begin - position_))) return shorter();
  position_ = tensor.data_begin + tensor.data_bytes;
  while (!destination.empty()) {
    const void* piece = nullptr;
    int size = 0;
    if (!reader_.Next(&piece, &size)) return shorter();
    const size_t wanted = std::min(destination.size(), static_cast<size_t>(size));
    std::memcpy(destination.data(), piece, wanted);
    // Piece by piece, while it is in the CPU's cache.
    if (crc32c != nullptr) *crc32c = ExtendCrc32c(*crc32c, destination.first(wanted));
    destination = destination.subspan(wanted);
    if (wanted < static_cast<size_t>(size)) reader_.BackUp(size - static_cast<int>(wanted));
  }
  return absl::OkStatus();
}

}  // namespace posenc

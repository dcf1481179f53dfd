#include "server/rpc/calls/wire.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

using Owner = std::shared_ptr<const void>;

// Runs on a thread of gRPC: letting go of a block or buffer is cheap (see Block).
void ReleaseOwner(void* owner) { delete static_cast<Owner*>(owner); }

// gRPC's slices are of void*, but the library never writes to them.
grpc::Slice ReferenceTo(const SharedBytes& data) {
  auto owner = std::make_unique<Owner>(data.owner);
  void* const start = const_cast<std::byte*>(data.bytes.data());
  return grpc::Slice(start, data.bytes.size(), &ReleaseOwner, owner.release());
}

size_t DataBytes(const Frame& frame) {
  size_t bytes = 0;
  for (const FramePiece& piece : frame) bytes += piece.data.bytes.size();
  return bytes;
}

}  // namespace

absl::StatusOr<grpc::Slice> RequestBytes(const grpc::ByteBuffer& buffer) {
  grpc::Slice bytes;
  if (buffer.TrySingleSlice(&bytes).ok() || buffer.DumpToSingleSlice(&bytes).ok()) return bytes;
  return absl::InvalidArgumentError("the call has no request");
}

absl::Status ParseRequest(absl::string_view bytes, google::protobuf::Message& message) {
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("request is not a valid ", message.GetDescriptor()->name()));
}

OutgoingMessage ToMessage(const Frame& frame) {
  OutgoingMessage message;
  message.data_bytes = DataBytes(frame);
  std::vector<grpc::Slice> slices;
  slices.reserve(2 * frame.size());
  for (const FramePiece& piece : frame) {
    if (!piece.head.empty()) slices.emplace_back(piece.head);
    if (!piece.data.bytes.empty()) slices.push_back(ReferenceTo(piece.data));
  }
  if (slices.empty()) slices.emplace_back();  // an empty message is still a message
  message.buffer = grpc::ByteBuffer(slices.data(), slices.size());
  return message;
}

}  // namespace posenc

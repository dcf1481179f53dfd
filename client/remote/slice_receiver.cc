#include "client/remote/slice_receiver.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "client/remote/destinations.h"
#include "posenc/table_builder.h"

namespace posenc {
namespace {

// More than a message brings, which a chunk of checksums stands for.
constexpr uint64_t kMaxChunkBytes = 128 << 20;

absl::Status Malformed(absl::string_view what) {
  return absl::InternalError(absl::StrCat("the server sent a chunk ", what));
}

}  // namespace

absl::Status SliceReceiver::FromCaller(absl::Status status) {
  stopped_by_caller_ = !status.ok();
  return status;
}

absl::Status SliceReceiver::Begin(const SliceInfo& header) {
  if (slice_) {
    if (*slice_ == header) return absl::OkStatus();
    return absl::AbortedError("the server's answer changed while it was read");
  }
  if (absl::Status status = CheckAnswer(expected_, header); !status.ok()) return status;
  for (const TensorInfo& tensor : header.tensors) {
    const int64_t bytes = TensorBytes(tensor).value_or(0);  // the header has been checked
    row_bytes_.push_back(header.row_count == 0 ? 0 : bytes / header.row_count);
  }
  slice_ = header;
  if (params_.checksums_only) return absl::OkStatus();
  auto destinations = AskForDestinations(params_, *slice_);
  if (!destinations.ok()) return FromCaller(destinations.status());
  destinations_ = *std::move(destinations);
  return absl::OkStatus();
}

absl::Status SliceReceiver::CheckChunk(const Frame& frame) const {
  const int64_t left = slice_->row_count - next_row_;
  if (frame.row_count < 0 || frame.row_count > left) return Malformed("beyond the last row");
  const bool is_next = frame.first_row == next_row_ && next_row_ >= 0;
  if (frame.row_count > 0 && !is_next) return Malformed("out of its order");
  if (frame.row_count == 0 && frame.tensors.empty()) return absl::OkStatus();
  if (frame.tensors.size() != slice_->tensors.size()) return Malformed("with other tensors");
  // Neither sum nor product can overflow: they are part of the whole answer's size, which has been checked.
  const uint64_t row_bytes = std::accumulate(row_bytes_.begin(), row_bytes_.end(), uint64_t{0});
  if (row_bytes * frame.row_count > kMaxChunkBytes) return Malformed("of more rows than a message holds");
  for (size_t i = 0; i < frame.tensors.size(); ++i) {
    const TensorInfo& expected = slice_->tensors[i];
    const TensorInfo& info = frame.tensors[i].info;
    if (info.name != expected.name || info.element_type != expected.element_type) {
      return Malformed("with other tensors");
    }
    if (params_.checksums_only) continue;
    if (frame.tensors[i].data_bytes != frame.row_count * row_bytes_[i]) {
      return Malformed("whose size is not that of its rows");
    }
  }
  return absl::OkStatus();
}

std::vector<std::span<std::byte>> SliceReceiver::MemoryFor(const Frame& frame) {
  std::vector<std::span<std::byte>> memory;
  size_t scratch_used = 0;
  if (destinations_.empty()) {
    size_t needed = 0;
    for (const FrameTensor& tensor : frame.tensors) needed += (tensor.data_bytes + 63) / 64 * 64;
    if (scratch_.size() < needed) scratch_.resize(needed);
  }
  for (size_t i = 0; i < frame.tensors.size(); ++i) {
    const auto size = static_cast<size_t>(frame.tensors[i].data_bytes);
    if (destinations_.empty()) {
      memory.push_back(std::span(scratch_).subspan(scratch_used, size));
      scratch_used += (size + 63) / 64 * 64;
    } else {
      memory.push_back(destinations_[i].subspan(frame.first_row * row_bytes_[i], size));
    }
  }
  return memory;
}

absl::Status SliceReceiver::CopyChunk(const Frame& frame, grpc::ByteBuffer& message) {
  chunk_ = MemoryFor(frame);
  FrameReader reader(message);
  uint32_t crc32c = 0;
  for (size_t i = 0; i < frame.tensors.size(); ++i) {
    absl::Status status = reader.Copy(frame.tensors[i], chunk_[i], &crc32c);
    if (!status.ok()) return status;
  }
  if (crc32c == frame.crc32c) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("checksum mismatch in rows ", frame.first_row, " to ",
                                          frame.first_row + frame.row_count));
}

absl::Status SliceReceiver::Deliver(const Frame& frame) {
  next_row_ += frame.row_count;
  if (!params_.on_chunk) return absl::OkStatus();
  const std::vector<std::span<const std::byte>> tensors(chunk_.begin(), chunk_.end());
  return FromCaller(params_.on_chunk({.slice = *slice_,
                                      .first_row = frame.first_row,
                                      .row_count = frame.row_count,
                                      .tensors = tensors,
                                      .crc32c = frame.crc32c}));
}

absl::Status SliceReceiver::Accept(grpc::ByteBuffer& message) {
  const absl::StatusOr<Frame> frame = ParseFrame(FrameKind::kStreamSlice, message);
  if (!frame.ok()) return frame.status();
  if (frame->header) {
    if (absl::Status status = Begin(*frame->header); !status.ok()) return status;
  }
  if (!slice_) return Malformed("before the header");
  if (absl::Status status = CheckChunk(*frame); !status.ok()) return status;
  if (frame->row_count == 0) return absl::OkStatus();
  if (params_.checksums_only) return Deliver(*frame);
  if (absl::Status status = CopyChunk(*frame, message); !status.ok()) return status;
  return Deliver(*frame);
}

absl::Status SliceReceiver::Finish() const {
  if (slice_ && next_row_ >= slice_->row_count) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the stream ended after ", next_row_, " rows",
                   slice_ ? absl::StrCat(" of ", slice_->row_count) : std::string()));
}

}  // namespace posenc

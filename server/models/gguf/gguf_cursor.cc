#include "server/models/gguf/gguf_cursor.h"

#include "absl/strings/str_cat.h"

namespace posenc {

absl::Status RefuseGguf(absl::string_view what, uint64_t at) {
  return absl::InvalidArgumentError(absl::StrCat("GGUF file: ", what, " (at byte ", at, ")"));
}

absl::Status GgufCursor::Read(void* out, uint64_t bytes, absl::string_view what) {
  if (bytes > left()) return RefuseGguf(absl::StrCat("ends inside ", what), position_);
  stream_.read(static_cast<char*>(out), static_cast<std::streamsize>(bytes));
  if (!stream_) return RefuseGguf(absl::StrCat("cannot be read: ", what), position_);
  position_ += bytes;
  return absl::OkStatus();
}

absl::StatusOr<std::string> GgufCursor::Text(uint64_t max_bytes, absl::string_view what) {
  const absl::StatusOr<uint64_t> length = Number<uint64_t>(what);
  if (!length.ok()) return length.status();
  if (*length > max_bytes) {
    return RefuseGguf(absl::StrCat(what, " has ", *length, " bytes; allowed: at most ", max_bytes),
                      position_);
  }
  if (*length > left()) return RefuseGguf(absl::StrCat("ends inside ", what), position_);
  std::string text(*length, '\0');
  const absl::Status status = Read(text.data(), *length, what);
  if (!status.ok()) return status;
  return text;
}

absl::Status GgufCursor::Skip(uint64_t bytes, absl::string_view what) {
  if (bytes > left()) return RefuseGguf(absl::StrCat("ends inside ", what), position_);
  return Seek(position_ + bytes);
}

absl::Status GgufCursor::Seek(uint64_t place) {
  // Short steps stay inside the stream's buffer, which seeking would throw away.
  constexpr uint64_t kShort = 4096;
  if (place >= position_ && place - position_ < kShort) {
    stream_.ignore(static_cast<std::streamsize>(place - position_));
  } else {
    stream_.seekg(static_cast<std::streamoff>(place));
  }
  position_ = place;
  return stream_ ? absl::OkStatus() : RefuseGguf("cannot be read", place);
}

}  // namespace posenc

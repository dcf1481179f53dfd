// Reads forward through a GGUF file and never beyond its end.
//
// Lengths come from the file and are held against what is left before anything is allocated or skipped.
// Not thread-safe. Ownership: refers to a stream, which must outlive it.

#ifndef POSENC_SERVER_MODELS_GGUF_GGUF_CURSOR_H_
#define POSENC_SERVER_MODELS_GGUF_GGUF_CURSOR_H_

#include <bit>
#include <cstdint>
#include <istream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace posenc {

// Returns the refusal of a GGUF file that is wrong at a byte.
absl::Status RefuseGguf(absl::string_view what, uint64_t at);

class GgufCursor {
 public:
  GgufCursor(std::istream& stream, uint64_t size_bytes) : stream_(stream), size_bytes_(size_bytes) {}

  uint64_t position() const { return position_; }
  uint64_t left() const { return size_bytes_ - position_; }

  // Reads bytes, or refuses the file where it has not as many left. `what` is what they are, in words.
  absl::Status Read(void* out, uint64_t bytes, absl::string_view what);

  template <typename T>
  absl::StatusOr<T> Number(absl::string_view what) {
    static_assert(std::endian::native == std::endian::little);
    T value;
    const absl::Status status = Read(&value, sizeof(T), what);
    if (!status.ok()) return status;
    return value;
  }

  // Reads a text behind its length.
  absl::StatusOr<std::string> Text(uint64_t max_bytes, absl::string_view what);

  absl::Status Skip(uint64_t bytes, absl::string_view what);

  // Goes to a place, which must be inside the file.
  absl::Status Seek(uint64_t place);

 private:
  std::istream& stream_;
  uint64_t size_bytes_;
  uint64_t position_ = 0;
};

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_GGUF_GGUF_CURSOR_H_

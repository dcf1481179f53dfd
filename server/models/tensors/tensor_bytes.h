// What the readers of both formats need: sizes that cannot overflow, and little-endian lengths.
// Pure functions, safe from any thread.

#ifndef POSENC_SERVER_MODELS_TENSORS_TENSOR_BYTES_H_
#define POSENC_SERVER_MODELS_TENSORS_TENSOR_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"

namespace posenc {

// Returns element_bytes times all dimensions, or nothing where that does not fit 63 bits.
inline std::optional<uint64_t> TensorBytes(const std::vector<int64_t>& shape, uint64_t element_bytes) {
  uint64_t bytes = element_bytes;
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return std::nullopt;
  }
  if (bytes > INT64_MAX) return std::nullopt;
  return bytes;
}

// Returns the first `count` bytes as a little-endian number. Requires: there are as many, at most 8.
inline uint64_t LittleEndian(std::span<const std::byte> bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = (value << 8) | static_cast<uint64_t>(bytes[i]);
  return value;
}

inline absl::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_TENSORS_TENSOR_BYTES_H_

// Element types of tensors, as bytes on the wire and in memory: little-endian, IEEE 754 where a name
// of IEEE exists. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_CORE_ELEMENT_TYPE_H_
#define POSENC_SERVER_CORE_ELEMENT_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace posenc {

// The element type of one tensor. The complex types belong to the complex rotary layout alone: a table
// is asked for in one of the real types, and its complex form follows from that.
enum class ElementType : uint8_t {
  // What the family has by itself: F32, I32 for bucket maps, the stored type for learned tables. In
  // requests only; Normalize replaces it.
  kUnspecified = 0,
  kF64 = 1,
  kF32 = 2,
  kF16 = 3,         // IEEE binary16
  kBF16 = 4,        // the upper half of a binary32
  kComplex64 = 5,   // two F32: real, imaginary
  kComplex128 = 6,  // two F64: real, imaginary
  kI32 = 7,         // bucket maps
};

// Returns the size of one element in bytes.
size_t ElementSizeBytes(ElementType type);

// Returns the name used everywhere (proto, CLI, JSON): "F64", "F32", "F16", "BF16", "C64", "C128",
// "I32"; "unspecified" where it is that.
absl::string_view ElementTypeName(ElementType type);

// Parses a name, in any case; also takes the spellings of other tools ("float32", "fp16", "half", …).
// Errors: InvalidArgument that lists the names.
absl::StatusOr<ElementType> ParseElementType(absl::string_view name);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_ELEMENT_TYPE_H_

// Where element i of numbers lies, and rows of a table as floats.

#ifndef POSENC_CLIENT_OPS_MEMORY_H_
#define POSENC_CLIENT_OPS_MEMORY_H_

#include <cstdint>
#include <vector>

#include "client/ops/kernels.h"
#include "posenc/numbers.h"

namespace posenc {

inline const void* AtElement(const ConstNumbers& numbers, int64_t index) {
  return static_cast<const std::byte*>(numbers.data()) +
         index * static_cast<int64_t>(ElementSizeBytes(numbers.type()));
}

inline void* AtElement(const Numbers& numbers, int64_t index) {
  return static_cast<std::byte*>(numbers.data()) +
         index * static_cast<int64_t>(ElementSizeBytes(numbers.type()));
}

// Reads `size` elements at a time as floats: in place where they are, else in memory of its own,
// which the next Read overwrites.
class FloatReader {
 public:
  FloatReader(const ConstNumbers& numbers, int64_t size) : numbers_(numbers), size_(size) {
    if (numbers.type() != ElementType::kF32) floats_.resize(size);
  }

  const float* Read(const OpsKernels& kernels, int64_t index) {
    const void* const from = AtElement(numbers_, index);
    if (numbers_.type() == ElementType::kF32) return static_cast<const float*>(from);
    kernels.widen(numbers_.type(), from, size_, floats_.data());
    return floats_.data();
  }

 private:
  ConstNumbers numbers_;
  int64_t size_;
  std::vector<float> floats_;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_OPS_MEMORY_H_

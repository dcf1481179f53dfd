// torch.linspace in float32: counted from the nearer end. A pure function, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_LINSPACE_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_LINSPACE_H_

#include <cstdint>

namespace posenc {

// Returns element i of `count` from `first` to `last`, both included; `first` alone for one.
inline float LinspaceF32(float first, float last, int64_t count, int64_t i) {
  if (count == 1) return first;
  const float step = (last - first) / static_cast<float>(count - 1);
  if (i < count / 2) return first + step * static_cast<float>(i);
  return last - step * static_cast<float>(count - 1 - i);
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_LINSPACE_H_

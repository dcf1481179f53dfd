#include "server/core/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace posenc {
namespace {

// ISA-L takes its length as an int.
constexpr size_t kMaxStepBytes = size_t{1} << 30;

}  // namespace

uint32_t ExtendCrc32c(uint32_t crc, std::span<const std::byte> data) {
  // ISA-L works on the inverted register and inverts neither before nor after.
  uint32_t state = ~crc;
  while (!data.empty()) {
    const auto step = data.first(std::min(data.size(), kMaxStepBytes));
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(step.data()));
    state = crc32_iscsi(bytes, static_cast<int>(step.size()), state);
    data = data.subspan(step.size());
  }
  return ~state;
}

}  // namespace posenc

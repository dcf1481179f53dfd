#include "server/core/shortest_decimal.h"

#include <charconv>
#include <cmath>

namespace posenc {

std::string ShortestDecimal(double value) {
  if (std::isnan(value)) return "nan";  // its sign bit means nothing
  char text[64];
  const bool whole = value == std::trunc(value) && std::fabs(value) < 1e15;
  const auto end = whole ? std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed)
                         : std::to_chars(text, text + sizeof(text), value);
  return {text, end.ptr};
}

}  // namespace posenc

// Bytes for people: "1.5 MiB".

#ifndef POSENC_SERVER_TABLES_MEMORY_BYTE_TEXT_H_
#define POSENC_SERVER_TABLES_MEMORY_BYTE_TEXT_H_

#include <string>

#include "absl/strings/str_format.h"

namespace posenc {

inline std::string ByteText(double bytes) {
  if (bytes < 1024) return absl::StrFormat("%.0f bytes", bytes);
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return absl::StrFormat("%.4g %s", bytes, units[unit]);
}

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_MEMORY_BYTE_TEXT_H_

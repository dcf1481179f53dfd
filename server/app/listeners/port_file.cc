#include "server/app/listeners/port_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace posenc {

absl::StatusOr<std::unique_ptr<PortFile>> PortFile::Write(const std::string& path,
                                                          const std::vector<int>& ports) {
  const std::string draft = absl::StrCat(path, ".", getpid());
  std::ofstream file(draft);
  for (int port : ports) file << port << "\n";
  file.close();
  if (!file || std::rename(draft.c_str(), path.c_str()) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
  }
  return std::unique_ptr<PortFile>(new PortFile(path));
}

PortFile::~PortFile() { unlink(path_.c_str()); }

}  // namespace posenc

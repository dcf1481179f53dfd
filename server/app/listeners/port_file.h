// A file that tells others which ports were bound, for servers on port 0.
//
// It appears whole or not at all, and is removed with the object.

#ifndef POSENC_SERVER_APP_LISTENERS_PORT_FILE_H_
#define POSENC_SERVER_APP_LISTENERS_PORT_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace posenc {

class PortFile {
 public:
  // Writes one port a line. Errors: Unavailable that names the path and the reason.
  static absl::StatusOr<std::unique_ptr<PortFile>> Write(const std::string& path,
                                                         const std::vector<int>& ports);

  ~PortFile();
  PortFile(const PortFile&) = delete;
  PortFile& operator=(const PortFile&) = delete;

 private:
  explicit PortFile(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_PORT_FILE_H_

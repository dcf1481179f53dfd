// A file as read-only memory, mapped and not read.
//
// A file that was mapped may be replaced by renaming another one over it, but must not be written to or
// cut short: the pages are the file's own, and a page that is gone is a signal (SIGBUS).
//
// Threads: immutable; any thread. Ownership: the memory lives as long as this object.

#ifndef POSENC_SERVER_MODELS_TENSORS_MAPPED_FILE_H_
#define POSENC_SERVER_MODELS_TENSORS_MAPPED_FILE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace posenc {

class MappedFile {
 public:
  // Errors: NotFound for a file that is not there, InvalidArgument for one that is empty, not a regular
  // file or cannot be mapped. Messages do not name the file, callers do.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_TENSORS_MAPPED_FILE_H_

#include "server/models/tensors/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

absl::Status CannotOpen() {
  const int error = errno;
  const std::string text = absl::StrCat("cannot be read: ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(text) : absl::InvalidArgumentError(text);
}

// A descriptor for the time of mapping.
struct Descriptor {
  explicit Descriptor(const std::string& path) : value(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (value >= 0) close(value);
  }
  const int value;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  const Descriptor file(path);
  struct stat about = {};
  if (file.value < 0 || fstat(file.value, &about) != 0) return CannotOpen();
  if (!S_ISREG(about.st_mode)) return absl::InvalidArgumentError("is not a regular file");
  if (about.st_size == 0) return absl::InvalidArgumentError("is empty");
  const auto size = static_cast<size_t>(about.st_size);
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (memory == MAP_FAILED) return CannotOpen();
  return std::shared_ptr<const MappedFile>(
      new MappedFile({static_cast<const std::byte*>(memory), size}));
}

MappedFile::~MappedFile() {
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace posenc

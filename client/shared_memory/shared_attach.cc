#include "client/shared_memory/shared_attach.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/remote/message_codec.h"
#include "posenc/table_builder.h"

namespace posenc {
namespace {

// Hex digits, as the server makes them.
constexpr size_t kTokenBytes = 64;

// A server that is there answers at once; one that hangs must not hang its clients.
constexpr timeval kSocketTimeout = {.tv_sec = 2, .tv_usec = 0};

absl::Status Unreachable(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat("shared memory: ", what, ": ", std::strerror(errno)));
}

absl::Status NotAsOffered(absl::string_view what) {
  return absl::InternalError(absl::StrCat("shared memory: the server's memory ", what));
}

// The path is the server's word, and whoever listens there gets the token. So it must be nothing that another
// program of this host could take for a request.
bool IsToken(const std::string& token) {
  return token.size() == kTokenBytes && absl::c_all_of(token, [](char c) { return absl::ascii_isxdigit(c); });
}

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

absl::StatusOr<Descriptor> Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::UnavailableError("shared memory: the server's socket has no path that can be used here");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connection.get() < 0) return Unreachable("socket");
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &kSocketTimeout, sizeof(kSocketTimeout));
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &kSocketTimeout, sizeof(kSocketTimeout));
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return Unreachable(path);
  }
  return connection;
}

absl::StatusOr<Descriptor> ReceiveDescriptor(int connection) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_LEN(sizeof(int));  // no room for a second one, which nobody would close
  const ssize_t count = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  if (count < 0) return Unreachable("receiving");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (count == 0 || header == nullptr || header->cmsg_type != SCM_RIGHTS) {
    return absl::UnavailableError("shared memory: the server on this host does not know the token");
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
  return Descriptor(fd);
}

// Returns the size of the memory, which nobody can change any more.
absl::StatusOr<int64_t> SealedSize(int memory) {
  const int seals = fcntl(memory, F_GET_SEALS);
  const bool read_only = seals >= 0 && (seals & (F_SEAL_FUTURE_WRITE | F_SEAL_WRITE)) != 0;
  if (!read_only || (seals & F_SEAL_SHRINK) == 0) return NotAsOffered("is not sealed");
  struct stat info{};
  if (fstat(memory, &info) != 0) return Unreachable("fstat");
  return info.st_size;
}

// A mapping with the connection that is its lease.
std::shared_ptr<std::byte> Map(const Descriptor& memory, Descriptor lease, int64_t size_bytes) {
  void* mapping = mmap(nullptr, static_cast<size_t>(size_bytes), PROT_READ, MAP_SHARED, memory.get(), 0);
  if (mapping == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(mapping), [size_bytes, connection = lease.release()](std::byte* begin) {
            munmap(begin, static_cast<size_t>(size_bytes));
            close(connection);
          }};
}

struct Layout {
  std::vector<TensorInfo> tensors;
  std::vector<int64_t> offsets;
};

absl::StatusOr<Layout> CheckedLayout(const v1::OpenSharedTableResponse& offer, int64_t size_bytes) {
  Layout layout;
  for (const v1::SharedTensor& from : offer.tensors()) {
    absl::StatusOr<TensorInfo> tensor = DecodeTensorInfo(from.info());
    if (!tensor.ok()) return tensor.status();
    const int64_t begin = from.offset_bytes(), bytes = from.size_bytes();
    const bool fits = begin >= 0 && bytes >= 0 && begin <= size_bytes && bytes <= size_bytes - begin;
    if (!fits || TensorBytes(*tensor) != bytes || begin % 64 != 0) {
      return NotAsOffered(absl::StrCat("does not hold tensor '", tensor->name, "'"));
    }
    layout.tensors.push_back(*std::move(tensor));
    layout.offsets.push_back(begin);
  }
  return layout;
}

}  // namespace

bool SharedMemorySocketAnswers(const std::string& path) { return Connect(path).ok(); }

absl::StatusOr<Table> AttachSharedTable(const v1::OpenSharedTableResponse& offer) {
  const std::string& token = offer.token();
  if (!IsToken(token)) return NotAsOffered("has a token that is none");
  absl::StatusOr<Descriptor> connection = Connect(offer.socket_path());
  if (!connection.ok()) return connection.status();
  if (send(connection->get(), token.data(), token.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(token.size())) {
    return Unreachable("sending");
  }
  const absl::StatusOr<Descriptor> memory = ReceiveDescriptor(connection->get());
  if (!memory.ok()) return memory.status();
  const absl::StatusOr<int64_t> size = SealedSize(memory->get());
  if (!size.ok()) return size.status();
  absl::StatusOr<Layout> layout = CheckedLayout(offer, *size);
  if (!layout.ok()) return layout.status();
  std::shared_ptr<std::byte> mapping = Map(*memory, *std::move(connection), *size);
  if (mapping == nullptr) return Unreachable("mapping");
  return TableBuilder::Adopt(offer.table_key(), std::move(layout->tensors), std::move(mapping), layout->offsets);
}

}  // namespace posenc

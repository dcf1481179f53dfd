#include "server/app/listeners/listen_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

// The kernel cuts it to net.core.somaxconn. Longer than SOMAXCONN: a burst waits, it is not refused.
constexpr int kBacklog = 4096;
constexpr int kOn = 1;
constexpr int kOff = 0;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

absl::Status Failed(const ListenAddress& address, const std::string& flag, absl::string_view reason) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address.text, " (", flag, "): ", reason));
}

std::string ReasonOf(int error) {
  return error == EADDRINUSE ? "the address is already in use" : std::strerror(error);
}

int BoundPort(int descriptor) {
  SocketAddress bound;
  bound.size = sizeof(bound.storage);
  if (getsockname(descriptor, bound.get(), &bound.size) != 0) return 0;
  if (bound.storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&bound.storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound.storage)->sin_port);
}

// Leaves errno as it was on failure.
Descriptor Listen(SocketAddress& address) {
  const int family = address.storage.ss_family;
  Descriptor descriptor(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!descriptor.open()) return descriptor;
  if (family != AF_UNIX) {
    // A port that closed connections still remember may be bound again; one with a listener may not.
    setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof(kOn));
    setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof(kOn));
  }
  if (family == AF_INET6) setsockopt(descriptor.get(), IPPROTO_IPV6, IPV6_V6ONLY, &kOff, sizeof(kOff));
  if (bind(descriptor.get(), address.get(), address.size) == 0 && listen(descriptor.get(), kBacklog) == 0) {
    return descriptor;
  }
  const int error = errno;
  descriptor.Close();
  errno = error;
  return descriptor;
}

SocketAddress AnyAddress(int port) {
  SocketAddress any;
  auto* address = reinterpret_cast<sockaddr_in6*>(&any.storage);
  address->sin6_family = AF_INET6;
  address->sin6_addr = in6addr_any;
  address->sin6_port = htons(static_cast<uint16_t>(port));
  any.size = sizeof(*address);
  return any;
}

absl::StatusOr<std::vector<SocketAddress>> Resolve(const ListenAddress& address, const std::string& flag) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) return Failed(address, flag, gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  std::vector<SocketAddress> all;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    SocketAddress& next = all.emplace_back();
    std::memcpy(&next.storage, one->ai_addr, one->ai_addrlen);
    next.size = one->ai_addrlen;
  }
  return all;
}

// Where port 0 meets a name with several addresses, all get the port of the first.
void SetPort(SocketAddress& address, int port) {
  const auto number = htons(static_cast<uint16_t>(port));
  if (address.storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = number;
  } else {
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = number;
  }
}

absl::StatusOr<std::vector<SocketAddress>> AddressesOf(const ListenAddress& address, const std::string& flag) {
  if (!address.is_unix()) return Resolve(address, flag);
  SocketAddress local;
  auto* unix_address = reinterpret_cast<sockaddr_un*>(&local.storage);
  unix_address->sun_family = AF_UNIX;
  std::memcpy(unix_address->sun_path, address.path.data(), address.path.size());
  local.size = sizeof(*unix_address);
  unlink(address.path.c_str());  // left by a process that died: its lock is gone
  return std::vector{local};
}

}  // namespace

absl::StatusOr<std::vector<ListenSocket>> ListenSocket::Open(const ListenAddress& address,
                                                             const std::string& flag) {
  std::vector<ListenSocket> sockets;
  const auto add = [&](SocketAddress& one) {
    Descriptor descriptor = Listen(one);
    if (!descriptor.open()) return errno;
    sockets.push_back(ListenSocket(address, std::move(descriptor)));
    return 0;
  };
  if (address.host == "0.0.0.0" || address.host == "::") {
    SocketAddress any = AnyAddress(address.port);
    const int error = add(any);
    if (error == 0) return sockets;
    // Other errors: a host without IPv6.
    if (error == EADDRINUSE || error == EACCES) return Failed(address, flag, ReasonOf(error));
  }
  absl::StatusOr<std::vector<SocketAddress>> all = AddressesOf(address, flag);
  if (!all.ok()) return all.status();
  int error = 0;
  for (SocketAddress& one : *all) {
    if (!sockets.empty()) SetPort(one, sockets.front().port());
    const int failure = add(one);
    if (failure != 0) error = failure;
  }
  // A name whose addresses are not all there (localhost without IPv6) is served on those that are.
  if (sockets.empty() || error == EADDRINUSE) return Failed(address, flag, ReasonOf(error));
  return sockets;
}

ListenSocket::ListenSocket(const ListenAddress& address, Descriptor descriptor)
    : name_(address.text), descriptor_(std::move(descriptor)), path_(address.path) {
  port_ = address.is_unix() ? 0 : BoundPort(descriptor_.get());
}

ListenSocket::~ListenSocket() {
  if (descriptor_.open() && !path_.empty()) unlink(path_.c_str());
}

}  // namespace posenc

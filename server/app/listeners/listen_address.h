// An address to listen on: "HOST:PORT", "[IPV6]:PORT" or "unix:PATH". A plain value.

#ifndef POSENC_SERVER_APP_LISTENERS_LISTEN_ADDRESS_H_
#define POSENC_SERVER_APP_LISTENERS_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace posenc {

struct ListenAddress {
  std::string text;  // as given, and as gRPC takes it
  std::string host;  // without brackets; empty for a Unix socket
  int port = 0;      // 0: any free one
  std::string path;  // of a Unix socket

  bool is_unix() const { return !path.empty(); }
};

// Errors: InvalidArgument that says what is allowed, also for a socket path that the kernel cannot take
// (over 107 bytes).
absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_LISTEN_ADDRESS_H_

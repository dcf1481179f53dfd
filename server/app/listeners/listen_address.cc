#include "server/app/listeners/listen_address.h"

#include <sys/un.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace posenc {
namespace {

constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;

absl::Status AddressError() {
  return absl::InvalidArgumentError(
      absl::StrCat("HOST:PORT with a port from 0 (any free one) to 65535, [IPV6]:PORT, or unix:PATH with at "
                   "most ", kMaxSocketPath, " bytes of path; e.g. 0.0.0.0:50051"));
}

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text) {
  ListenAddress address;
  address.text = std::string(text);
  absl::string_view path = text;
  if (absl::ConsumePrefix(&path, "unix:")) {
    if (path.empty() || path.size() > kMaxSocketPath) return AddressError();
    address.path = std::string(path);
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return AddressError();
  absl::string_view host = text.substr(0, colon);
  const bool bracketed = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  if (host.empty() || (!bracketed && host.find_first_of(":[]/") != absl::string_view::npos)) {
    return AddressError();
  }
  if (!absl::SimpleAtoi(text.substr(colon + 1), &address.port) || address.port < 0 ||
      address.port > 65535) {
    return AddressError();
  }
  address.host = std::string(host);
  return address;
}

}  // namespace posenc

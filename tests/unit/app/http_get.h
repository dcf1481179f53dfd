// One HTTP GET over loopback, for the admin pages. Blocks; gives up after a minute.

#ifndef POSENC_TESTS_UNIT_APP_HTTP_GET_H_
#define POSENC_TESTS_UNIT_APP_HTTP_GET_H_

#include <string>

namespace posenc {

struct HttpAnswer {
  int code = 0;  // 0 when there was no answer
  std::string head;
  std::string body;
};

enum class Loopback { kIpv4, kIpv6 };

HttpAnswer HttpGet(int port, const std::string& path, Loopback loopback = Loopback::kIpv4);

// A connection that has sent `text` and waits, for the caller to close; -1 when there is none.
int ConnectAndSend(int port, const std::string& text, Loopback loopback = Loopback::kIpv4);

// What `promtool check metrics` says of a page: empty when it is clean; "promtool is not installed" or its
// complaints otherwise.
std::string PromtoolComplaints(const std::string& page);

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_APP_HTTP_GET_H_

#include "tests/unit/app/http_get.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace posenc {
namespace {

template <typename Address>
bool ConnectTo(int connection, const Address& address) {
  return connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

bool ConnectToLoopback(int connection, int port, Loopback loopback) {
  if (loopback == Loopback::kIpv6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(static_cast<uint16_t>(port));
    address.sin6_addr = in6addr_loopback;
    return ConnectTo(connection, address);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ConnectTo(connection, address);
}

}  // namespace

int ConnectAndSend(int port, const std::string& text, Loopback loopback) {
  const int connection = socket(loopback == Loopback::kIpv4 ? AF_INET : AF_INET6, SOCK_STREAM, 0);
  const timeval timeout{.tv_sec = 60, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  if (ConnectToLoopback(connection, port, loopback) &&
      send(connection, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size())) {
    return connection;
  }
  close(connection);
  return -1;
}

HttpAnswer HttpGet(int port, const std::string& path, Loopback loopback) {
  const int connection =
      ConnectAndSend(port, absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\n\r\n"), loopback);
  if (connection < 0) return {};
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = recv(connection, buffer, sizeof(buffer), 0)) > 0;) text.append(buffer, n);
  close(connection);
  HttpAnswer answer;
  const size_t end = text.find("\r\n\r\n");
  if (text.size() < 12 || end == std::string::npos || !absl::SimpleAtoi(text.substr(9, 3), &answer.code)) {
    return {};
  }
  answer.head = text.substr(0, end);
  answer.body = text.substr(end + 4);
  return answer;
}

std::string PromtoolComplaints(const std::string& page) {
  const std::string path = absl::StrCat(testing::TempDir(), "/page.", getpid());
  std::ofstream(path) << page;
  const std::string command =
      absl::StrCat("command -v promtool >/dev/null || { echo promtool is not installed; exit 1; }; "
                   "promtool check metrics < ", path, " 2>&1");
  FILE* output = popen(command.c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(output)) != EOF;) text.push_back(static_cast<char>(c));
  const int status = pclose(output);
  unlink(path.c_str());
  return status == 0 ? "" : absl::StrCat(text, "exit status ", WEXITSTATUS(status));
}

}  // namespace posenc

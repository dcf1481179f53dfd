// A gRPC call as HTTP/2 written by hand, whose client decides byte by byte what the server may send: gRPC's own
// clients always take what a unary call sends.
//
// Threads: one at a time.

#ifndef POSENC_TESTS_UNIT_RPC_WINDOW_CLIENT_H_
#define POSENC_TESTS_UNIT_RPC_WINDOW_CLIENT_H_

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace posenc {

enum class FrameType : uint8_t { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kWindowUpdate = 8 };

// One call on a connection of its own; at first the server may send no byte of the answer.
class WindowClient {
 public:
  WindowClient(int port, const std::string& path, const std::string& message)
      : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit{.tv_sec = 30, .tv_usec = 0};  // a test that waits for what never comes fails
    EXPECT_EQ(setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    SendFrame(FrameType::kSettings, 0, 0, std::string("\0\x04\0\0\0\0", 6));  // initial window: 0
    SendFrame(FrameType::kHeaders, kEndHeaders, 1,
              Header(":method", "POST") + Header(":scheme", "http") + Header(":path", path) +
                  Header(":authority", "localhost") + Header("te", "trailers") +
                  Header("content-type", "application/grpc"));
    SendFrame(FrameType::kData, kEndStream, 1, std::string(1, '\0') + Number(message.size(), 4) + message);
  }
  ~WindowClient() { close(socket_); }
  WindowClient(const WindowClient&) = delete;
  WindowClient& operator=(const WindowClient&) = delete;

  // Lets the server send so many bytes more.
  void Allow(uint32_t bytes) {
    SendFrame(FrameType::kWindowUpdate, 0, 0, Number(bytes, 4));
    SendFrame(FrameType::kWindowUpdate, 0, 1, Number(bytes, 4));
  }

  // Reads frames until one of this type for the call; false when the connection ends before.
  bool WaitFor(FrameType type) {
    while (true) {
      const std::string head = Receive(9);
      if (head.size() < 9) return false;
      const auto byte = [&](int i) { return static_cast<uint8_t>(head[static_cast<size_t>(i)]); };
      Receive(byte(0) << 16 | byte(1) << 8 | byte(2));
      if (byte(3) == static_cast<uint8_t>(type) && byte(8) == 1) return true;
    }
  }

 private:
  static constexpr uint8_t kEndStream = 1;
  static constexpr uint8_t kEndHeaders = 4;

  static std::string Number(size_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(value >> (8 * i)));
    return text;
  }

  // HPACK: a literal that is not indexed, without Huffman; both texts are shorter than 127 bytes.
  static std::string Header(const std::string& name, const std::string& value) {
    return std::string(1, '\0') + Number(name.size(), 1) + name + Number(value.size(), 1) + value;
  }

  void SendFrame(FrameType type, uint8_t flags, uint32_t stream, const std::string& payload) {
    Send(Number(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) + Number(stream, 4) +
         payload);
  }

  void Send(const std::string& bytes) {
    EXPECT_EQ(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  std::string Receive(int count) {
    std::string bytes(static_cast<size_t>(count), '\0');
    const ssize_t got = recv(socket_, bytes.data(), bytes.size(), MSG_WAITALL);
    bytes.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
    return bytes;
  }

  const int socket_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_RPC_WINDOW_CLIENT_H_

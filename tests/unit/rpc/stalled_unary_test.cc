// A unary call whose client never opens its flow-control window: HTTP/2 written by hand, since gRPC's own
// clients always take what a unary call sends.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

enum class FrameType : uint8_t { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4 };
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kEndHeaders = 4;

// One call on a connection of its own; the client allows the server no byte of the answer.
class ClosedWindowClient {
 public:
  ClosedWindowClient(int port, const std::string& path, const std::string& message)
      : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
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
  ~ClosedWindowClient() { close(socket_); }
  ClosedWindowClient(const ClosedWindowClient&) = delete;
  ClosedWindowClient& operator=(const ClosedWindowClient&) = delete;

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

class StalledUnaryTest : public RpcTest {
 protected:
  // 256 KB of blocks, sent as they are.
  std::unique_ptr<ClosedWindowClient> Stall() {
    const auto request = ParseText<v1::GetSliceRequest>("spec { rope { head_dim: 128 max_len: 512 } }");
    return std::make_unique<ClosedWindowClient>(port(), "/posenc.v1.PositionalEncodingService/GetSlice",
                                                request.SerializeAsString());
  }
};

TEST_F(StalledUnaryTest, AnAnswerThatNobodyTakesIsCutOff) {
  Restart({.budget_bytes = size_t{2} << 20, .stall_timeout = absl::Milliseconds(200)});
  const auto client = Stall();
  EXPECT_TRUE(client->WaitFor(FrameType::kHeaders));
  EXPECT_TRUE(client->WaitFor(FrameType::kReset));
  EXPECT_TRUE(MemoryComesBack());  // while the connection stays open
}

TEST_F(StalledUnaryTest, ItHoldsItsBlocksUntilThen) {
  Restart({.stall_timeout = absl::InfiniteDuration()});
  const auto client = Stall();
  EXPECT_TRUE(client->WaitFor(FrameType::kHeaders));
  store().EvictAll();
  EXPECT_GE(store().stats().orphaned_bytes, size_t{256} << 10);
}

TEST_F(StalledUnaryTest, ManyAtOnceAreAllCutOff) {
  Restart({.budget_bytes = size_t{2} << 20, .stall_timeout = absl::Milliseconds(200)});
  std::vector<std::unique_ptr<ClosedWindowClient>> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(Stall());
  for (const auto& client : clients) EXPECT_TRUE(client->WaitFor(FrameType::kReset));
  EXPECT_TRUE(MemoryComesBack());
}

}  // namespace
}  // namespace posenc

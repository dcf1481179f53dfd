// Readers that take nothing hold all memory, and somebody else asks: they are cut off long before the stall
// timeout, but nobody is as long as nobody waits.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "posenc/v1/positional_encoding_service.grpc.pb.h"
#include "tests/unit/rpc/rpc_fixture.h"
#include "tests/unit/rpc/window_client.h"

namespace posenc {
namespace {

// A connection of its own with streams that nobody reads.
class IdleReaders {
 public:
  explicit IdleReaders(int port) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::PositionalEncodingService::NewStub(grpc::CreateCustomChannel(
        absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials(), arguments));
  }
  ~IdleReaders() {
    for (const auto& call : calls_) call->context.TryCancel();
  }

  void Open(const std::string& request) {
    calls_.push_back(std::make_unique<Call>());
    Call& call = *calls_.back();
    call.reader = stub_->StreamSlice(&call.context, ParseText<v1::StreamSliceRequest>(request));
  }

 private:
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::StreamSliceResponse>> reader;
  };
  std::unique_ptr<v1::PositionalEncodingService::Stub> stub_;
  std::vector<std::unique_ptr<Call>> calls_;
};

class PressureTest : public RpcTest {
 protected:
  static constexpr size_t kBlockBytes = size_t{256} << 10;

  static std::string Rope(int base, int max_len) {
    return absl::StrCat("spec { rope { head_dim: 128 base: ", base, " max_len: ", max_len, " } }");
  }

  // Opens streams of different tables until some of them wait for memory; on `connections` connections. Calls
  // `meanwhile` between them.
  template <typename Meanwhile>
  void FillWithIdleReaders(int connections, Meanwhile meanwhile) {
    for (int i = 0; i < connections; ++i) idle_.push_back(std::make_unique<IdleReaders>(port()));
    for (int base = 1000; store().stats().waiting_requests < 2 * connections; ++base) {
      idle_[static_cast<size_t>(base % connections)]->Open(Rope(base, 200000));
      meanwhile();
    }
  }

  std::unique_ptr<WindowClient> StartSlice(const std::string& request) {
    return std::make_unique<WindowClient>(port(), "/posenc.v1.PositionalEncodingService/GetSlice",
                                          ParseText<v1::GetSliceRequest>(request).SerializeAsString());
  }

  std::vector<std::unique_ptr<IdleReaders>> idle_;
};

TEST_F(PressureTest, IdleStreamsMakeRoomForOthers) {
  Restart({.budget_bytes = size_t{8} << 20, .block_bytes = kBlockBytes});
  FillWithIdleReaders(3, [&] { EXPECT_OK(GetServerInfo()); });
  for (int base = 100; base < 120; ++base) EXPECT_OK(GetSlice(Rope(base, 512), absl::Seconds(10)));
}

TEST_F(PressureTest, IdleUnaryAnswersMakeRoomForOthers) {
  Restart({.budget_bytes = size_t{4} << 20, .block_bytes = kBlockBytes});
  std::vector<std::unique_ptr<WindowClient>> clients;
  for (int base = 1000; store().stats().waiting_requests < 3; ++base) {
    clients.push_back(StartSlice(Rope(base, 512)));
    EXPECT_OK(GetServerInfo());
  }
  for (int base = 100; base < 110; ++base) EXPECT_OK(GetSlice(Rope(base, 512), absl::Seconds(10)));
}

TEST_F(PressureTest, NobodyIsCutOffWhenNobodyWaits) {
  Restart({.budget_bytes = size_t{8} << 20, .block_bytes = kBlockBytes});
  const auto idle = StartSlice(Rope(500, 512));
  ASSERT_TRUE(idle->WaitFor(FrameType::kHeaders));
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500);
  for (int base = 100; std::chrono::steady_clock::now() < end; ++base) ASSERT_OK(GetSlice(Rope(base, 64)));
  idle->Allow(size_t{1} << 20);
  EXPECT_TRUE(idle->WaitFor(FrameType::kHeaders));
}

}  // namespace
}  // namespace posenc

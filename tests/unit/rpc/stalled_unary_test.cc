// A unary call whose client never opens its flow-control window.

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/rpc/rpc_fixture.h"
#include "tests/unit/rpc/window_client.h"

namespace posenc {
namespace {

class StalledUnaryTest : public RpcTest {
 protected:
  // 256 KB of blocks, sent as they are.
  std::unique_ptr<WindowClient> Stall() {
    const auto request = ParseText<v1::GetSliceRequest>("spec { rope { head_dim: 128 max_len: 512 } }");
    return std::make_unique<WindowClient>(port(), "/posenc.v1.PositionalEncodingService/GetSlice",
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
  std::vector<std::unique_ptr<WindowClient>> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(Stall());
  for (const auto& client : clients) EXPECT_TRUE(client->WaitFor(FrameType::kReset));
  EXPECT_TRUE(MemoryComesBack());
}

}  // namespace
}  // namespace posenc

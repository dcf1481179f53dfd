#include <grpcpp/grpcpp.h>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class GetServerInfoTest : public RpcTest {};

TEST_F(GetServerInfoTest, SaysWhatTheServerIs) {
  const auto info = GetServerInfo();
  ASSERT_OK(info);
  EXPECT_EQ(info->version(), "1.2.3");
  EXPECT_EQ(info->revision(), "abc");
  EXPECT_EQ(info->compiler(), "cc");
  EXPECT_THAT(info->grpc_version(), StartsWith("1."));
  EXPECT_THAT(info->protobuf_version(), Not(IsEmpty()));
  EXPECT_THAT(info->kernel_target(), Not(IsEmpty()));
  EXPECT_GE(info->uptime_seconds(), 0);
  EXPECT_EQ(info->max_unary_bytes(), limits::kDefaultMaxUnaryBytes);
  EXPECT_EQ(info->block_bytes(), size_t{64} << 10);
  EXPECT_TRUE(info->ready());
  EXPECT_FALSE(info->draining());
}

TEST_F(GetServerInfoTest, SaysHowTheCacheIsDoing) {
  const std::string request = "spec { rope { head_dim: 128 max_len: 128 } }";
  ASSERT_OK(GetSlice(request));
  ASSERT_OK(GetSlice(request));
  const auto info = GetServerInfo();
  ASSERT_OK(info);
  EXPECT_EQ(info->cache().limit_bytes(), size_t{64} << 20);
  EXPECT_EQ(info->cache().blocks_generated(), 1u);
  EXPECT_EQ(info->cache().misses(), 1u);
  EXPECT_EQ(info->cache().hits(), 1u);
  EXPECT_GE(info->cache().resident_bytes(), size_t{64} << 10);
}

}  // namespace
}  // namespace posenc

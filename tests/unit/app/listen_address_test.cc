#include "server/app/listeners/listen_address.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

TEST(ListenAddressTest, ReadsHostAndPort) {
  const ListenAddress address = *ParseListenAddress("0.0.0.0:50051");
  EXPECT_EQ(address.host, "0.0.0.0");
  EXPECT_EQ(address.port, 50051);
  EXPECT_FALSE(address.is_unix());
}

TEST(ListenAddressTest, ReadsIpv6InBrackets) {
  const ListenAddress address = *ParseListenAddress("[::1]:0");
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.port, 0);
}

TEST(ListenAddressTest, ReadsSocketPath) {
  const ListenAddress address = *ParseListenAddress("unix:/run/a b.sock");
  EXPECT_TRUE(address.is_unix());
  EXPECT_EQ(address.path, "/run/a b.sock");
}

TEST(ListenAddressTest, RefusesEverythingElse) {
  const std::string long_path = "unix:/" + std::string(107, 'x');
  for (const std::string& text : {std::string(""), std::string("50051"), std::string(":50051"),
                                  std::string("host:"), std::string("host:70000"), std::string("host:-1"),
                                  std::string("::1:80"), std::string("[::1:80"), std::string("unix:"),
                                  std::string("http://a:80"), long_path}) {
    EXPECT_THAT(ParseListenAddress(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("HOST:PORT")))
        << text;
  }
}

}  // namespace
}  // namespace posenc

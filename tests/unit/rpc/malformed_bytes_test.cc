// Bytes that are no message, for every RPC: an error that says so, and the server goes on.

#include <string>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

struct Rpc {
  const char* method;
  const char* request;  // the message that the answer names
};

class MalformedBytesTest : public RpcTest, public ::testing::WithParamInterface<Rpc> {};

TEST_P(MalformedBytesTest, AreInvalidArgumentAndTheServerGoesOn) {
  for (const std::string& bytes : {std::string("\xff\xff\xff\xff"), std::string("\x0a\x7f\x01"),
                                   std::string("\x0b\x0b\x0b\x0b\x0b"), std::string(100000, '\x0a'),
                                   std::string(1, '\0')}) {
    const RawAnswer answer = CallRaw(GetParam().method, bytes);
    EXPECT_THAT(answer.status, StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr(std::string("not a valid ") + GetParam().request)));
    EXPECT_TRUE(answer.messages.empty());
  }
  EXPECT_OK(GetServerInfo());
}

INSTANTIATE_TEST_SUITE_P(
    Rpcs, MalformedBytesTest,
    ::testing::Values(Rpc{"PositionalEncodingService/DescribeTable", "DescribeTableRequest"},
                      Rpc{"PositionalEncodingService/GetSlice", "GetSliceRequest"},
                      Rpc{"PositionalEncodingService/StreamSlice", "StreamSliceRequest"},
                      Rpc{"PositionalEncodingService/ResolveModel", "ResolveModelRequest"},
                      Rpc{"TableAdminService/ListTables", "ListTablesRequest"},
                      Rpc{"TableAdminService/WarmTables", "WarmTablesRequest"},
                      Rpc{"TableAdminService/EvictTables", "EvictTablesRequest"},
                      Rpc{"TableAdminService/GetServerInfo", "GetServerInfoRequest"}),
    [](const auto& info) { return std::string(info.param.request); });

TEST_F(RpcTest, UnknownMethodsAreUnimplemented) {
  EXPECT_EQ(CallRaw("PositionalEncodingService/Nothing", "").status.code(),
            absl::StatusCode::kUnimplemented);
}

TEST_F(RpcTest, TextThatIsNotUtf8IsNotAValidRequest) {
  EXPECT_THAT(CallRaw("PositionalEncodingService/ResolveModel", "\x0a\x01\xff").status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ResolveModelRequest")));
}

}  // namespace
}  // namespace posenc

#include "server/app/listeners/grpc_listeners.h"

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "server/app/listeners/health_service.h"
#include "server/app/listeners/rpc_methods.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class GrpcListenersTest : public testing::Test {
 protected:
  using Result = absl::StatusOr<std::unique_ptr<GrpcListeners>>;

  Result Open(const std::vector<std::string>& texts) {
    std::vector<ListenAddress> addresses;
    for (const std::string& text : texts) addresses.push_back(*ParseListenAddress(text));
    return GrpcListeners::Open(addresses, {&health_}, metrics_);
  }

  static grpc::Status Check(const std::string& target) {
    const auto channel = grpc::CreateChannel(target, grpc::InsecureChannelCredentials());
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckResponse response;
    return grpc::health::v1::Health::NewStub(channel)->Check(&context, {}, &response);
  }

  std::string SocketPath() const {
    return absl::StrCat(testing::TempDir(), "/listeners_test.", getpid(), ".sock");
  }
  ~GrpcListenersTest() override { unlink((SocketPath() + ".lock").c_str()); }

 private:
  HealthService health_{{}};
  prometheus::Registry registry_;
  RpcMetrics metrics_{registry_, ServedRpcMethods()};
};

TEST_F(GrpcListenersTest, ServesOnEveryAddressAndTellsTheBoundPort) {
  const Result listeners = Open({"127.0.0.1:0", "unix:" + SocketPath()});
  ASSERT_OK(listeners);
  const auto& bound = (*listeners)->bound();
  EXPECT_GT(bound[0].port, 0);
  EXPECT_TRUE(Check(absl::StrCat("127.0.0.1:", bound[0].port)).ok());
  EXPECT_TRUE(Check("unix:" + SocketPath()).ok());
  (*listeners)->Shutdown(absl::ZeroDuration(), [] { return true; });
}

TEST_F(GrpcListenersTest, SecondServerOnAPortIsRefusedByName) {
  const Result first = Open({"127.0.0.1:0"});
  ASSERT_OK(first);
  const std::string address = absl::StrCat("127.0.0.1:", (*first)->bound()[0].port);
  EXPECT_THAT(Open({address}),
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr(address), HasSubstr("in use"))));
}

TEST_F(GrpcListenersTest, RefusalNamesTheAddressThatFailedAmongMany) {
  const Result first = Open({"127.0.0.1:0"});
  ASSERT_OK(first);
  const std::string address = absl::StrCat("127.0.0.1:", (*first)->bound()[0].port);
  EXPECT_THAT(Open({"127.0.0.1:0", address}), StatusIs(absl::StatusCode::kUnavailable, HasSubstr(address)));
}

TEST_F(GrpcListenersTest, SecondServerOnASocketIsRefusedAndTheFirstStays) {
  const Result first = Open({"unix:" + SocketPath()});
  ASSERT_OK(first);
  EXPECT_THAT(Open({"unix:" + SocketPath()}),
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr(SocketPath()), HasSubstr("in use"))));
  EXPECT_TRUE(Check("unix:" + SocketPath()).ok());
}

TEST_F(GrpcListenersTest, SocketIsGoneAfterwardsAndItsPathFree) {
  for (int round = 0; round < 2; ++round) {
    const Result listeners = Open({"unix:" + SocketPath()});
    ASSERT_OK(listeners);
    (*listeners)->Shutdown(absl::ZeroDuration(), [] { return true; });
  }
  EXPECT_NE(access(SocketPath().c_str(), F_OK), 0);
}

TEST_F(GrpcListenersTest, IdleClientsDoNotHoldUpAShutdown) {
  const Result listeners = Open({"127.0.0.1:0"});
  ASSERT_OK(listeners);
  const auto channel = grpc::CreateChannel(absl::StrCat("127.0.0.1:", (*listeners)->bound()[0].port),
                                           grpc::InsecureChannelCredentials());
  channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10));
  const absl::Time start = absl::Now();
  (*listeners)->Shutdown(absl::Minutes(1), [] { return true; });
  EXPECT_LT(absl::Now() - start, absl::Seconds(4));
}

TEST_F(GrpcListenersTest, AddressThatCannotBeBoundIsNamed) {
  EXPECT_THAT(Open({"192.0.2.1:0"}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot listen on 192.0.2.1:0")));
}

}  // namespace
}  // namespace posenc

#include "server/app/listeners/health_service.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace posenc {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr auto kServing = HealthCheckResponse::SERVING;
constexpr auto kNotServing = HealthCheckResponse::NOT_SERVING;

class HealthServiceTest : public testing::Test {
 protected:
  HealthServiceTest() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&health_);
    server_ = builder.BuildAndStart();
    stub_ = Health::NewStub(
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", port_), grpc::InsecureChannelCredentials()));
  }

  // The state that Check gives, or nothing when it is refused with the code `refusal_`.
  std::optional<int> Check(const std::string& name) {
    grpc::ClientContext context;
    HealthCheckResponse response;
    const grpc::Status status = stub_->Check(&context, Request(name), &response);
    refusal_ = status.error_code();
    if (!status.ok()) return std::nullopt;
    return response.status();
  }

  // One Watch stream of the client.
  struct Watch {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;

    // The next state, or nothing at the end.
    std::optional<int> Next() {
      HealthCheckResponse response;
      if (!reader->Read(&response)) return std::nullopt;
      return response.status();
    }
  };
  std::unique_ptr<Watch> OpenWatch(const std::string& name) {
    auto watch = std::make_unique<Watch>();
    watch->reader = stub_->Watch(&watch->context, Request(name));
    return watch;
  }

  static HealthCheckRequest Request(const std::string& name) {
    HealthCheckRequest request;
    request.set_service(name);
    return request;
  }

  HealthService health_{{"posenc.v1.PositionalEncodingService", "posenc.v1.TableAdminService"}};
  grpc::StatusCode refusal_ = grpc::StatusCode::OK;
  std::unique_ptr<grpc::Server> server_;

 private:
  int port_ = 0;
  std::unique_ptr<Health::Stub> stub_;
};

TEST_F(HealthServiceTest, ReadinessFollowsTheServerAndLivenessDoesNot) {
  const std::string names[] = {"", "posenc.v1.PositionalEncodingService", "posenc.v1.TableAdminService"};
  for (const std::string& name : names) EXPECT_EQ(Check(name), kNotServing) << name;
  EXPECT_EQ(Check("liveness"), kServing);
  health_.SetServing(true);
  for (const std::string& name : names) EXPECT_EQ(Check(name), kServing) << name;
  health_.Drain();
  for (const std::string& name : names) EXPECT_EQ(Check(name), kNotServing) << name;
  EXPECT_EQ(Check("liveness"), kServing);
}

TEST_F(HealthServiceTest, UnknownNameIsNotFound) {
  EXPECT_EQ(Check("nope"), std::nullopt);
  EXPECT_EQ(refusal_, grpc::StatusCode::NOT_FOUND);
}

TEST_F(HealthServiceTest, WatchOfAnUnknownNameSaysSo) {
  const auto watch = OpenWatch("nope");
  EXPECT_EQ(watch->Next(), HealthCheckResponse::SERVICE_UNKNOWN);
}

TEST_F(HealthServiceTest, WatchersSeeEveryChangeAndEndWellAtDrain) {
  const auto watch = OpenWatch("");
  EXPECT_EQ(watch->Next(), kNotServing);
  health_.SetServing(true);
  EXPECT_EQ(watch->Next(), kServing);
  health_.Drain();
  EXPECT_EQ(watch->Next(), kNotServing);
  EXPECT_EQ(watch->Next(), std::nullopt);
  EXPECT_TRUE(watch->reader->Finish().ok());
}

TEST_F(HealthServiceTest, LaterWatchersAreToldAndEndedToo) {
  health_.Drain();
  const auto watch = OpenWatch("");
  EXPECT_EQ(watch->Next(), kNotServing);
  EXPECT_EQ(watch->Next(), std::nullopt);
  EXPECT_TRUE(watch->reader->Finish().ok());
}

TEST_F(HealthServiceTest, OpenWatchersDoNotHoldUpAShutdown) {
  const auto ready = OpenWatch("");
  const auto live = OpenWatch("liveness");
  const auto unknown = OpenWatch("nope");
  for (const auto& watch : {ready.get(), live.get(), unknown.get()}) EXPECT_TRUE(watch->Next());
  const auto start = std::chrono::steady_clock::now();
  health_.Drain();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(30));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(health_.watchers(), 0);
}

TEST_F(HealthServiceTest, WatchersThatLeaveAreForgotten) {
  for (int i = 0; i < 50; ++i) {
    const auto watch = OpenWatch("");
    EXPECT_TRUE(watch->Next());
    watch->context.TryCancel();
    EXPECT_EQ(watch->reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
    health_.SetServing(i % 2 == 0);
  }
  server_->Shutdown();
  EXPECT_EQ(health_.watchers(), 0);
}

}  // namespace
}  // namespace posenc

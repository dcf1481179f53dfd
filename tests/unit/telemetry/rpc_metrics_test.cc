#include "server/telemetry/rpc_metrics.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "posenc/v1/positional_encoding_service.grpc.pb.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRawBytes = 1000;

// GetSlice as the real service has it, raw; it answers with kRawBytes bytes that are an empty message
// with an unknown field.
class RawService : public v1::PositionalEncodingService::WithRawCallbackMethod_GetSlice<
                       v1::PositionalEncodingService::Service> {
  grpc::ServerUnaryReactor* GetSlice(grpc::CallbackServerContext* context, const grpc::ByteBuffer*,
                                     grpc::ByteBuffer* response) override {
    std::string text = "\x9a\x06\xe4\x07";  // field 99, 996 bytes
    text.resize(kRawBytes, 'x');
    const grpc::Slice slice(text);
    *response = grpc::ByteBuffer(&slice, 1);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

// Typed: Check refuses, Watch sends two messages.
class TypedService : public grpc::health::v1::Health::Service {
  grpc::Status Check(grpc::ServerContext*, const grpc::health::v1::HealthCheckRequest*,
                     grpc::health::v1::HealthCheckResponse*) override {
    return {grpc::StatusCode::NOT_FOUND, "no"};
  }
  grpc::Status Watch(grpc::ServerContext*, const grpc::health::v1::HealthCheckRequest*,
                     grpc::ServerWriter<grpc::health::v1::HealthCheckResponse>* writer) override {
    writer->Write({});
    writer->Write({});
    return grpc::Status::OK;
  }
};

class RpcMetricsTest : public testing::Test {
 protected:
  RpcMetricsTest() {
    grpc::ServerBuilder builder;
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> creators;
    creators.push_back(metrics_.MakeInterceptorFactory());
    builder.experimental().SetInterceptorCreators(std::move(creators));
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&raw_);
    builder.RegisterService(&typed_);
    server_ = builder.BuildAndStart();
    channel_ = grpc::CreateChannel(absl::StrCat("127.0.0.1:", port_), grpc::InsecureChannelCredentials());
  }

  grpc::StatusCode CallGetSlice() {
    grpc::ClientContext context;
    v1::GetSliceResponse response;
    return v1::PositionalEncodingService::NewStub(channel_)->GetSlice(&context, {}, &response).error_code();
  }

  grpc::StatusCode CallCheck() {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckResponse response;
    return grpc::health::v1::Health::NewStub(channel_)->Check(&context, {}, &response).error_code();
  }

  void CallWatch() {
    grpc::ClientContext context;
    const auto reader = grpc::health::v1::Health::NewStub(channel_)->Watch(&context, {});
    grpc::health::v1::HealthCheckResponse response;
    while (reader->Read(&response)) continue;
    EXPECT_TRUE(reader->Finish().ok());
  }

  // The page once every call so far has ended on the server too.
  std::string Page() {
    server_->Shutdown();
    return PageNow();
  }
  std::string PageNow() const {
    return prometheus::TextSerializer().prometheus::Serializer::Serialize(registry_.Collect());
  }

  // Calls a method by path, which the server may not have.
  grpc::StatusCode CallPath(const std::string& path) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::ByteBuffer request, response;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareUnaryCall(&context, path, request, &queue);
    grpc::Status status;
    call->StartCall();
    call->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return status.error_code();
  }

  prometheus::Registry registry_;
  RpcMetrics metrics_{registry_,
                      {{"posenc.v1.PositionalEncodingService", "GetSlice", RpcType::kUnary, true},
                       {"grpc.health.v1.Health", "Check"},
                       {"grpc.health.v1.Health", "Watch", RpcType::kServerStream}}};

 private:
  RawService raw_;
  TypedService typed_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

constexpr absl::string_view kSliceLabels =
    R"(grpc_method="GetSlice",grpc_service="posenc.v1.PositionalEncodingService",grpc_type="unary")";

TEST_F(RpcMetricsTest, EveryLabelSetIsThereAtZeroBeforeTheFirstCall) {
  const std::string page = PageNow();
  EXPECT_THAT(page, HasSubstr(absl::StrCat("grpc_server_started_total{", kSliceLabels, "} 0\n")));
  for (int code = 0; code <= 16; ++code) {
    EXPECT_THAT(page, HasSubstr(absl::StrCat("grpc_code=\"", GoCodeName(grpc::StatusCode(code)), "\"")));
  }
  EXPECT_THAT(page, HasSubstr(R"(posenc_response_bytes_total{method="GetSlice",transport="uds"} 0)"));
  EXPECT_THAT(page, HasSubstr(R"(posenc_requests_in_flight{method="GetSlice"} 0)"));
}

TEST_F(RpcMetricsTest, RawCallIsCountedWithItsExactBytes) {
  EXPECT_EQ(CallGetSlice(), grpc::StatusCode::OK);
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr(absl::StrCat("grpc_server_started_total{", kSliceLabels, "} 1\n")));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("grpc_server_msg_received_total{", kSliceLabels, "} 1\n")));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("grpc_server_msg_sent_total{", kSliceLabels, "} 1\n")));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("grpc_server_handling_seconds_count{", kSliceLabels, "} 1\n")));
  EXPECT_THAT(page, HasSubstr(R"(posenc_response_bytes_total{method="GetSlice",transport="tcp"} 1000)"));
  EXPECT_THAT(page, HasSubstr(R"(posenc_response_size_bytes_sum{method="GetSlice"} 1000)"));
  EXPECT_EQ(metrics_.in_flight(), 0);
}

TEST_F(RpcMetricsTest, TypedCallIsCountedUnderItsCode) {
  EXPECT_EQ(CallCheck(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(Page(), HasSubstr(R"(grpc_server_handled_total{grpc_code="NotFound",grpc_method="Check",)"
                                R"(grpc_service="grpc.health.v1.Health",grpc_type="unary"} 1)"));
}

TEST_F(RpcMetricsTest, EveryMessageOfAStreamIsCounted) {
  CallWatch();
  EXPECT_THAT(Page(), HasSubstr(R"(grpc_server_msg_sent_total{grpc_method="Watch",)"
                                R"(grpc_service="grpc.health.v1.Health",grpc_type="server_stream"} 2)"));
}

TEST_F(RpcMetricsTest, UnknownMethodsMakeNoSeries) {
  const std::string before = PageNow();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(CallPath(absl::StrCat("/posenc.v1.Typo/Method", i)), grpc::StatusCode::UNIMPLEMENTED);
  }
  EXPECT_EQ(Page(), before);
}

TEST_F(RpcMetricsTest, BucketsSpanCacheHitsAndColdTables) {
  const std::string page = PageNow();
  EXPECT_THAT(page, HasSubstr("le=\"5e-05\""));
  EXPECT_THAT(page, HasSubstr("le=\"30\""));
  EXPECT_THAT(page, Not(HasSubstr("le=\"60\"")));
}

}  // namespace
}  // namespace posenc

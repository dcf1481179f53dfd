// The claims about posenc-server as a whole that only the real process can show.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "posenc/v1/positional_encoding_service.grpc.pb.h"
#include "server/app/listeners/rpc_methods.h"
#include "tests/unit/app/http_get.h"
#include "tests/unit/app/server_process.h"

namespace posenc {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckResponse;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

// A stream of 4 GiB that is read no further than a test says.
struct StalledStream {
  StalledStream(v1::PositionalEncodingService::Stub& stub, int64_t first_position) {
    v1::StreamSliceRequest request;
    request.mutable_spec()->mutable_rope()->set_head_dim(128);
    request.mutable_spec()->mutable_rope()->set_max_len(4 << 20);
    request.mutable_spec()->mutable_rope()->set_first_position(first_position);
    reader = stub.StreamSlice(&context, request);
  }
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::StreamSliceResponse>> reader;
};

class ServerProcessTest : public testing::Test {
 protected:
  std::string WarmFile(const std::string& textproto) {
    const std::string path = absl::StrCat(testing::TempDir(), "/warm.", getpid(), ".txtpb");
    std::ofstream(path) << textproto;
    return path;
  }

  // The state that Check gives for readiness.
  static int Readiness(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    HealthCheckResponse response;
    const bool ok = Health::NewStub(channel)->Check(&context, {}, &response).ok();
    return ok ? response.status() : -1;
  }

  // Sends SIGTERM and returns the exit code; the process must end within `limit`.
  static int Terminate(ServerProcess& server, std::chrono::seconds limit) {
    const auto start = Clock::now();
    server.Send(SIGTERM);
    const int code = server.AwaitExit();
    EXPECT_LT(Clock::now() - start, limit);
    return code;
  }
};

TEST_F(ServerProcessTest, BecomesReadyAndStopsWithCodeZero) {
  const auto server = ServerProcess::OnFreePorts();
  const auto channel = server->AwaitChannel();
  ASSERT_TRUE(server->AwaitLog("ready"));
  EXPECT_EQ(Readiness(channel), HealthCheckResponse::SERVING);
  EXPECT_EQ(Terminate(*server, std::chrono::seconds(5)), 0);
  EXPECT_THAT(server->output(), AllOf(HasSubstr("drain begins"), HasSubstr("drain has ended")));
}

TEST_F(ServerProcessTest, ServesATableThatShowsInTheMetrics) {
  const auto server = ServerProcess::OnFreePorts();
  const int admin_port = server->AwaitAdminPort();
  const auto stub = v1::PositionalEncodingService::NewStub(server->AwaitChannel());
  v1::GetSliceRequest request;
  request.mutable_spec()->mutable_sinusoidal()->set_d_model(8);
  request.mutable_spec()->mutable_sinusoidal()->set_max_len(16);
  v1::GetSliceResponse response;
  grpc::ClientContext context;
  EXPECT_TRUE(stub->GetSlice(&context, request, &response).ok());
  EXPECT_EQ(response.tensors(0).data().size(), 8u * 16 * 4);
  EXPECT_THAT(HttpGet(admin_port, "/metrics").body,
              AllOf(HasSubstr("posenc_blocks_generated_total{family=\"sinusoidal\"} 1\n"),
                    HasSubstr("posenc_cache_requests_total{result=\"miss\"} 1\n")));
}

TEST_F(ServerProcessTest, PromtoolHasNoComplaintsAboutTheRealPage) {
  const auto server = ServerProcess::OnFreePorts();
  const int port = server->AwaitAdminPort();
  ASSERT_TRUE(server->AwaitLog("ready"));
  EXPECT_EQ(PromtoolComplaints(HttpGet(port, "/metrics").body), "");
}

TEST_F(ServerProcessTest, IsNotReadyUntilWarm) {
  const std::string file = WarmFile("rope { head_dim: 256 max_len: 400000 }");
  const auto server = ServerProcess::OnFreePorts({"--warm", file, "--cache-bytes=1GiB", "--threads=1"});
  const int admin_port = server->AwaitAdminPort();
  const auto channel = server->AwaitChannel();
  EXPECT_EQ(HttpGet(admin_port, "/readyz").code, 503);
  EXPECT_EQ(Readiness(channel), HealthCheckResponse::NOT_SERVING);
  ASSERT_TRUE(server->AwaitLog("ready"));
  EXPECT_EQ(Readiness(channel), HealthCheckResponse::SERVING);
  EXPECT_EQ(HttpGet(admin_port, "/readyz").code, 200);
  EXPECT_THAT(HttpGet(admin_port, "/metrics").body, HasSubstr("posenc_warm_tables{state=\"ready\"} 1\n"));
}

TEST_F(ServerProcessTest, TableThatCannotBeWarmedFailsTheStartByName) {
  const std::string file = WarmFile("rope { head_dim: 256 max_len: 4000000 }");
  const auto server = ServerProcess::OnFreePorts({"--warm", file, "--cache-bytes=64MiB"});
  EXPECT_EQ(server->AwaitExit(), 1);
  EXPECT_THAT(server->output(), AllOf(HasSubstr("cannot be warmed"), HasSubstr(file), Not(HasSubstr("ready\""))));
}

TEST_F(ServerProcessTest, StopDuringWarmingExitsWithCodeZero) {
  const std::string file = WarmFile("rope { head_dim: 256 max_len: 400000 }");
  const auto server = ServerProcess::OnFreePorts({"--warm", file, "--cache-bytes=1GiB", "--threads=1"});
  ASSERT_TRUE(server->AwaitLog("listening"));
  EXPECT_EQ(Terminate(*server, std::chrono::seconds(5)), 0);
}

TEST_F(ServerProcessTest, DrainTellsWatchersAndEndsTheirStreams) {
  const auto server = ServerProcess::OnFreePorts();
  const auto channel = server->AwaitChannel();
  ASSERT_TRUE(server->AwaitLog("ready"));
  grpc::ClientContext context;
  const auto watch = Health::NewStub(channel)->Watch(&context, {});
  HealthCheckResponse state;
  ASSERT_TRUE(watch->Read(&state));
  EXPECT_EQ(state.status(), HealthCheckResponse::SERVING);
  server->Send(SIGTERM);
  while (watch->Read(&state)) continue;
  EXPECT_EQ(state.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_TRUE(watch->Finish().ok());
  EXPECT_EQ(server->AwaitExit(), 0);
}

TEST_F(ServerProcessTest, DrainsInTimeWithStalledReadersWaitingRequestsAndAnOpenWatcher) {
  const auto server = ServerProcess::OnFreePorts({"--cache-bytes=16MiB", "--drain-timeout=1s"});
  const auto channel = server->AwaitChannel();
  grpc::ClientContext context;
  const auto watch = Health::NewStub(channel)->Watch(&context, {});
  HealthCheckResponse state;
  ASSERT_TRUE(watch->Read(&state));
  const auto stub = v1::PositionalEncodingService::NewStub(channel);
  std::vector<std::unique_ptr<StalledStream>> streams;
  for (int i = 0; i < 24; ++i) streams.push_back(std::make_unique<StalledStream>(*stub, i));
  v1::StreamSliceResponse chunk;
  ASSERT_TRUE(streams[0]->reader->Read(&chunk));
  EXPECT_EQ(Terminate(*server, std::chrono::seconds(6)), 0) << server->output();
}

TEST_F(ServerProcessTest, RunningStreamIsCutOffAtTheDrainTimeout) {
  const auto server = ServerProcess::OnFreePorts({"--drain-timeout=500ms"});
  const auto stub = v1::PositionalEncodingService::NewStub(server->AwaitChannel());
  StalledStream stream(*stub, 0);
  v1::StreamSliceResponse chunk;
  ASSERT_TRUE(stream.reader->Read(&chunk));
  server->Send(SIGTERM);
  while (stream.reader->Read(&chunk)) continue;  // 4 GiB would take longer
  EXPECT_THAT(stream.reader->Finish().error_code(),
              AnyOf(grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::CANCELLED));
  EXPECT_EQ(server->AwaitExit(), 0);
}

TEST_F(ServerProcessTest, SecondSignalExitsAtOnce) {
  const auto server = ServerProcess::OnFreePorts({"--drain-delay=1h"});
  ASSERT_TRUE(server->AwaitLog("ready"));
  server->Send(SIGTERM);
  ASSERT_TRUE(server->AwaitLog("drain begins"));
  EXPECT_EQ(server->SendUntilExit(SIGTERM), 128 + SIGTERM);
}

TEST_F(ServerProcessTest, StrangersSignalDoesNotMakeItDeafToTheNextOne) {
  const auto server = ServerProcess::OnFreePorts();
  ASSERT_TRUE(server->AwaitLog("ready"));
  server->Send(SIGUSR2);
  server->Send(SIGTERM);
  EXPECT_EQ(server->AwaitExit(), 0);
}

TEST_F(ServerProcessTest, SignalThatComesTwiceAtOnceIsOneSignal) {
  const auto server = ServerProcess::OnFreePorts();
  ASSERT_TRUE(server->AwaitLog("ready"));
  server->Send(SIGTERM);
  EXPECT_EQ(Terminate(*server, std::chrono::seconds(5)), 0);
}

TEST_F(ServerProcessTest, HealthSaysNotServingDuringTheDrainDelayWhileCallsStillWork) {
  const auto server = ServerProcess::OnFreePorts({"--drain-delay=1h"});
  const auto channel = server->AwaitChannel();
  ASSERT_TRUE(server->AwaitLog("ready"));
  server->Send(SIGTERM);
  ASSERT_TRUE(server->AwaitLog("drain begins"));
  grpc::ClientContext context;
  const auto watch = Health::NewStub(channel)->Watch(&context, {});
  HealthCheckResponse state;
  while (watch->Read(&state)) continue;
  EXPECT_TRUE(watch->Finish().ok());
  EXPECT_EQ(state.status(), HealthCheckResponse::NOT_SERVING);
}

TEST_F(ServerProcessTest, SecondServerOnAPortExitsWithOneClearLine) {
  const auto first = ServerProcess::OnFreePorts();
  const std::string address = absl::StrCat("127.0.0.1:", first->AwaitPort());
  const auto second = ServerProcess::WithArguments({"--listen", address, "--admin-listen="});
  EXPECT_EQ(second->AwaitExit(), 1);
  EXPECT_THAT(second->output(),
              HasSubstr(absl::StrCat("cannot listen on ", address, " (--listen): the address is already in use")));
  EXPECT_THAT(second->output(), Not(HasSubstr("gRPC")));
}

TEST_F(ServerProcessTest, AdminPortInUseExitsWithOneClearLine) {
  const auto first = ServerProcess::OnFreePorts();
  const std::string address = absl::StrCat("127.0.0.1:", first->AwaitAdminPort());
  const auto second = ServerProcess::WithArguments({"--listen=127.0.0.1:0", "--admin-listen", address});
  EXPECT_EQ(second->AwaitExit(), 1);
  EXPECT_THAT(second->output(), AllOf(HasSubstr(address), HasSubstr("in use")));
}

TEST_F(ServerProcessTest, WritesItsPortToAFileAndRemovesIt) {
  const std::string path = absl::StrCat(testing::TempDir(), "/port.", getpid());
  const auto server = ServerProcess::OnFreePorts({"--port-file", path});
  const int port = server->AwaitPort();
  ASSERT_TRUE(server->AwaitLog("ready"));
  int written = 0;
  std::ifstream(path) >> written;
  EXPECT_EQ(written, port);
  EXPECT_EQ(Terminate(*server, std::chrono::seconds(5)), 0);
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST_F(ServerProcessTest, ExitCodesTellWhatWasWrong) {
  const std::string file = WarmFile("rope { head_dim: 7 }");
  EXPECT_EQ(ServerProcess::WithArguments({"--version"})->AwaitExit(), 0);
  EXPECT_EQ(ServerProcess::WithArguments({"--print-config"})->AwaitExit(), 0);
  EXPECT_EQ(ServerProcess::WithArguments({"--check-config"})->AwaitExit(), 0);
  EXPECT_EQ(ServerProcess::WithArguments({"--threads=x"})->AwaitExit(), 2);
  EXPECT_EQ(ServerProcess::WithArguments({"--check-config", "--warm", file})->AwaitExit(), 2);
}

}  // namespace
}  // namespace posenc

// The real process while peers ask for more than it has, and while it is told to stop under load.

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "posenc/v1/positional_encoding_service.grpc.pb.h"
#include "tests/unit/app/http_get.h"
#include "tests/unit/app/server_process.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Stub = v1::PositionalEncodingService::Stub;

v1::GetSliceRequest SmallRequest() {
  v1::GetSliceRequest request;
  request.mutable_spec()->mutable_sinusoidal()->set_d_model(8);
  request.mutable_spec()->mutable_sinusoidal()->set_max_len(16);
  return request;
}

grpc::Status GetSlice(Stub& stub) {
  grpc::ClientContext context;
  v1::GetSliceResponse response;
  return stub.GetSlice(&context, SmallRequest(), &response);
}

std::unique_ptr<Stub> NewStub(int port, const std::function<void(grpc::ChannelArguments&)>& set = nullptr) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  if (set) set(arguments);
  return v1::PositionalEncodingService::NewStub(grpc::CreateCustomChannel(
      absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials(), arguments));
}

int ConnectToUnix(const std::string& path) {
  const int connection = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  EXPECT_EQ(connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return connection;
}

// Clients that call until the server is gone, which they see as UNAVAILABLE; what else they see is kept.
class Load {
 public:
  Load(int port, int clients) {
    for (int i = 0; i < clients; ++i) threads_.emplace_back([this, port] { Call(port); });
  }

  // Waits until that many calls have been answered.
  void AwaitAnswers(int count) const {
    for (int seen = answers_; seen < count; seen = answers_) answers_.wait(seen);
  }

  // Ends when the server is gone. Returns how often a call got a code that is neither OK nor UNAVAILABLE.
  std::map<int, int> Faults() {
    for (std::thread& thread : threads_) thread.join();
    return faults_;
  }

 private:
  void Call(int port) {
    const auto stub = NewStub(port);
    for (;;) {
      const grpc::Status status = GetSlice(*stub);
      if (status.error_code() == grpc::StatusCode::UNAVAILABLE) return;
      if (status.ok()) {
        ++answers_;
        answers_.notify_all();
        continue;
      }
      const std::lock_guard lock(mutex_);
      ++faults_[status.error_code()];
      return;
    }
  }

  std::atomic<int> answers_ = 0;
  std::mutex mutex_;
  std::map<int, int> faults_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

TEST(GracefulStopTest, LosesNoCallUnderLoad) {
  for (int round = 0; round < 24; ++round) {
    const auto server = ServerProcess::OnFreePorts();
    const int port = server->AwaitPort();
    ASSERT_TRUE(server->AwaitLog("ready"));
    Load load(port, 8);
    load.AwaitAnswers(200);
    server->Send(SIGTERM);
    const auto drained = server->AwaitLog("drain has ended");
    ASSERT_TRUE(drained);
    EXPECT_FALSE(drained->value("cut_off", true));
    EXPECT_EQ(server->AwaitExit(), 0);
    EXPECT_THAT(load.Faults(), IsEmpty()) << "in round " << round;
  }
}

TEST(GracefulStopTest, EverySignalThatEndsAProgramDrainsIt) {
  for (const auto& [signal, name] : std::map<int, std::string>{
           {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}, {SIGHUP, "SIGHUP"}, {SIGQUIT, "SIGQUIT"}}) {
    const auto server = ServerProcess::OnFreePorts();
    ASSERT_TRUE(server->AwaitLog("ready"));
    server->Send(signal);
    const auto begins = server->AwaitLog("drain begins");
    ASSERT_TRUE(begins) << name;
    EXPECT_EQ(begins->value("reason", ""), name);
    EXPECT_EQ(server->AwaitExit(), 0) << name;
  }
}

TEST(GracefulStopTest, UserSignalsAreNoReasonToEnd) {
  const auto server = ServerProcess::OnFreePorts();
  const auto stub = NewStub(server->AwaitPort());
  ASSERT_TRUE(server->AwaitLog("ready"));
  server->Send(SIGUSR1);
  server->Send(SIGUSR2);
  EXPECT_TRUE(GetSlice(*stub).ok());
  server->Send(SIGTERM);
  EXPECT_EQ(server->AwaitExit(), 0);
}

TEST(DescriptorSiegeTest, ServesAgainAfterMoreConnectionsThanDescriptors) {
  const auto server = ServerProcess::WithDescriptorLimit(256);
  const int admin_port = server->AwaitAdminPort();
  const int port = server->AwaitPort();
  ASSERT_TRUE(server->AwaitLog("ready"));
  std::vector<int> connections;
  for (int i = 0; i < 400; ++i) connections.push_back(ConnectAndSend(port, ""));
  ASSERT_TRUE(server->AwaitLog("connections are refused"));
  EXPECT_EQ(HttpGet(admin_port, "/livez").code, 200);
  EXPECT_THAT(HttpGet(admin_port, "/metrics").body, HasSubstr("process_open_fds "));
  for (const int connection : connections) close(connection);
  const auto stub = NewStub(port);
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  v1::GetSliceResponse response;
  EXPECT_TRUE(stub->GetSlice(&context, SmallRequest(), &response).ok());
}

TEST(DescriptorSiegeTest, SharedMemorySocketHangsUpOnWhoComesTooOften) {
  const std::string path = absl::StrCat(testing::TempDir(), "/siege.", getpid(), ".sock");
  const auto server = ServerProcess::WithDescriptorLimit(256, {"--shared-memory-socket", path});
  const auto stub = NewStub(server->AwaitPort());
  ASSERT_TRUE(server->AwaitLog("ready"));
  std::vector<int> connections;
  for (int i = 0; i < 64; ++i) connections.push_back(ConnectToUnix(path));
  ASSERT_TRUE(server->AwaitLog("connections are refused"));
  EXPECT_TRUE(GetSlice(*stub).ok());
  for (const int connection : connections) close(connection);
}

TEST(FloodTest, CompressedRequestsAreInflatedByNobody) {
  const auto server = ServerProcess::OnFreePorts();
  const auto stub = NewStub(server->AwaitPort(), [](grpc::ChannelArguments& arguments) {
    arguments.SetCompressionAlgorithm(GRPC_COMPRESS_GZIP);
  });
  v1::GetSliceRequest request = SmallRequest();
  request.mutable_spec()->mutable_learned()->set_name(std::string(100000, 'a'));
  grpc::ClientContext context;
  v1::GetSliceResponse response;
  EXPECT_EQ(stub->GetSlice(&context, request, &response).error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace posenc

#include "server/app/listeners/connection_acceptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "server/app/lifecycle/descriptor_limit.h"
#include "server/app/listeners/accept_one.h"
#include "server/app/listeners/connection_census.h"
#include "server/app/listeners/listener_probe.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

constexpr int kLimitMs = 60000;

Descriptor Connect(int port) {
  Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return Descriptor();
  return connection;
}

// Waits for the other side to hang up.
bool IsHungUp(const Descriptor& connection) {
  pollfd waited{connection.get(), POLLIN, 0};
  char byte = 0;
  return poll(&waited, 1, kLimitMs) == 1 && recv(connection.get(), &byte, 1, 0) <= 0;
}

std::vector<ListenSocket> Sockets() { return *ListenSocket::Open(*ParseListenAddress("127.0.0.1:0"), "--listen"); }

// An acceptor whose connections the test holds.
class ConnectionAcceptorTest : public testing::Test {
 protected:
  void Start(size_t max_connections) {
    std::vector<ListenSocket> sockets = Sockets();
    port_ = sockets.front().port();
    const auto take = [this](int, int connection) {
      const std::lock_guard lock(mutex_);
      taken_.emplace_back(connection);
      changed_.notify_all();
    };
    acceptor_.emplace(AcceptorOptions{std::move(sockets), max_connections, take, nullptr});
  }

  // Waits until that many have been handed on altogether.
  bool Takes(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(kLimitMs), [&] { return taken_.size() >= count; });
  }

  void CloseTaken() {
    const std::lock_guard lock(mutex_);
    for (Descriptor& connection : taken_) connection.Close();
  }

  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Descriptor> taken_;
  std::optional<ConnectionAcceptor> acceptor_;
};

TEST_F(ConnectionAcceptorTest, WhoIsOverTheBoundIsHungUpOn) {
  Start(4);  // of which one address may have three
  std::vector<Descriptor> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(Connect(port_));
  EXPECT_TRUE(Takes(3));
  EXPECT_TRUE(IsHungUp(Connect(port_)));
}

TEST_F(ConnectionAcceptorTest, TakesAgainWhenThereIsRoom) {
  Start(4);
  std::vector<Descriptor> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(Connect(port_));
  ASSERT_TRUE(Takes(3));
  ASSERT_TRUE(IsHungUp(Connect(port_)));
  CloseTaken();
  // The house is counted anew now and then, so the first who comes may be sent away still.
  for (bool taken = false; !taken;) {
    clients.push_back(Connect(port_));
    std::unique_lock lock(mutex_);
    taken = changed_.wait_for(lock, std::chrono::milliseconds(20), [&] { return taken_.size() == 4; });
  }
}

TEST_F(ConnectionAcceptorTest, ClosedPortRefuses) {
  Start(4);
  acceptor_->Close();
  EXPECT_FALSE(Connect(port_).open());
}

TEST(AcceptOneTest, WithoutDescriptorsItRefusesAndLaterAcceptsAgain) {
  const std::vector<ListenSocket> sockets = Sockets();
  const int listener = sockets.front().descriptor();
  AcceptOne accept("a test", nullptr);
  const Descriptor first = Connect(sockets.front().port());
  const Descriptor second = Connect(sockets.front().port());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = Descriptor(dup(listener)).get();
  const rlimit none_left{static_cast<rlim_t>(lowest_free), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
  Descriptor accepted;
  EXPECT_EQ(accept.From(listener, accepted), AcceptOne::Result::kRefused);
  EXPECT_FALSE(accepted.open());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(IsHungUp(first));
  EXPECT_EQ(accept.From(listener, accepted), AcceptOne::Result::kAccepted);
  EXPECT_EQ(accept.From(listener, accepted), AcceptOne::Result::kNobody);
}

TEST(ConnectionCensusTest, ForgetsWhatOthersHaveClosed) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  Descriptor first(ends[0]);
  const Descriptor second(ends[1]);
  ConnectionCensus census;
  census.Add(first.get(), "a");
  census.Add(second.get(), "a");
  census.Recount();
  EXPECT_EQ(census.HeldBy("a"), 2u);
  first.Close();
  census.Recount();
  EXPECT_EQ(census.HeldBy("a"), 1u);
  EXPECT_EQ(census.total(), 1u);
}

TEST(ListenerProbeTest, ListenerThatTakesNobodyIsSilent) {
  const std::vector<ListenSocket> sockets = Sockets();
  const ProbeTarget target("deaf", sockets.front().descriptor());
  EXPECT_EQ(target.Ask(absl::Milliseconds(50), -1), ProbeTarget::Answer::kSilent);
}

TEST(ListenerProbeTest, TellsWhichListenerIsDeaf) {
  const std::vector<ListenSocket> sockets = Sockets();
  std::mutex mutex;
  std::condition_variable told;
  std::string deaf;
  ProbeOptions options;
  options.interval = absl::Milliseconds(1);
  options.limit = absl::Milliseconds(20);
  options.report = [&](const std::string& name) {
    const std::lock_guard lock(mutex);
    deaf = name;
    told.notify_all();
  };
  const ListenerProbe probe({ProbeTarget("the deaf one", sockets.front().descriptor())}, options);
  std::unique_lock lock(mutex);
  EXPECT_TRUE(told.wait_for(lock, std::chrono::milliseconds(kLimitMs), [&] { return deaf == "the deaf one"; }));
}

TEST(DescriptorSharesTest, LeaveAnEighthOfTheLimitToTheProgram) {
  for (const size_t limit : {64u, 1024u, 20000u, 1u << 20}) {
    for (const bool with_shared_memory : {false, true}) {
      const DescriptorShares shares = ShareDescriptors(limit, with_shared_memory);
      EXPECT_GT(shares.grpc, 0u);
      EXPECT_GT(shares.admin, 0u);
      EXPECT_EQ(shares.shared_memory > 0, with_shared_memory);
      EXPECT_LE(shares.grpc + shares.admin + 2 * shares.shared_memory, limit - limit / 8);
    }
  }
}

TEST(ListenSocketTest, AnyAddressIsBothFamilies) {
  const auto sockets = ListenSocket::Open(*ParseListenAddress("0.0.0.0:0"), "--listen");
  ASSERT_OK(sockets);
  EXPECT_TRUE(Connect(sockets->front().port()).open());
}

}  // namespace
}  // namespace posenc

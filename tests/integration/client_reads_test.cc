// The client's near cache, its reads in parts and its asynchronous calls, before a real server.

#include <memory>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "posenc/async.h"
#include "posenc/client.h"
#include "posenc/near_cache.h"
#include "tests/integration/process.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

const Rope kLarge{.head_dim = 128, .max_len = 131072};  // 64 MiB

std::shared_ptr<Connection> ConnectionInParts(const ServerProcess& server) {
  return MakeConnection(server.target(), {.retry = {.initial_delay = absl::Milliseconds(20)},
                                          .shared_memory = false,
                                          .parallel_streams = 4});
}

void ExpectLocalBytes(const absl::StatusOr<Table>& table, const TableRequest& request,
                      const Selection& selection = {}) {
  ASSERT_OK(table);
  const auto local = Client(MakeLocalConnection()).Slice(request, selection);
  ASSERT_OK(local);
  EXPECT_TRUE(ContentOf(*table) == ContentOf(*local));
}

TEST(ClientReadsTest, PartsOfALargeTableAreTheLocalBytes) {
  const ServerProcess server;
  Client client(ConnectionInParts(server));
  ExpectLocalBytes(client.Get(kLarge), kLarge);
  const Selection selection{.rows = Range{12345, 99999}};
  ExpectLocalBytes(client.Slice(kLarge, selection), kLarge, selection);
  const Sinusoidal wide{.d_model = 4096, .max_len = 5000};
  const Selection columns{.rows = Range{1, 4999}, .columns = Range{3, 4000}};
  ExpectLocalBytes(client.Slice(wide, columns), wide, columns);
}

TEST(ClientReadsTest, PartsGoOnWhenTheServerIsRestarted) {
  auto server = std::make_unique<ServerProcess>();
  const int port = server->port();
  const auto connection = ConnectionInParts(*server);
  bool killed = false;
  const auto table = connection->Fetch({.spec = {kLarge}, .on_progress = [&](uint64_t, uint64_t) {
                                          if (std::exchange(killed, true)) return;
                                          server->Kill();
                                          server = std::make_unique<ServerProcess>(std::vector<std::string>(), port);
                                        }});
  ExpectLocalBytes(table, kLarge);
  EXPECT_TRUE(killed);
}

TEST(ClientReadsTest, NearCacheLeavesTheServerAlone) {
  const ServerProcess server;
  const auto cache = MakeCachingConnection(MakeConnection(server.target(), {.shared_memory = false}));
  Client client(cache);
  const Rope rope{.head_dim = 64, .max_len = 20000};
  ExpectLocalBytes(client.Get(rope), rope);
  const auto before = client.ServerInfo();
  for (int64_t row = 0; row < 100; ++row) {
    ExpectLocalBytes(client.Gather(rope, {row, row * 100}), rope, {.positions = {row, row * 100}});
    EXPECT_OK(client.Get(rope));
  }
  const auto after = client.ServerInfo();
  ASSERT_OK(before);
  ASSERT_OK(after);
  EXPECT_EQ(before->cache.hits, after->cache.hits);
  EXPECT_EQ(cache->stats().misses, 1u);
}

TEST(ClientReadsTest, AsynchronousSlicesAreTheLocalOnes) {
  const ServerProcess server;
  AsyncClient client(MakeConnection(server.target()));
  const Rope rope{.head_dim = 64, .max_len = 20000};
  std::vector<AsyncClient::Future<Table>> futures;
  for (int64_t row = 0; row < 200; ++row) futures.push_back(client.Slice(rope, {.rows = Range{row * 99, row * 99 + 9}}));
  auto large = client.Get(kLarge);
  for (int64_t row = 0; row < 200; ++row) {
    ExpectLocalBytes(futures[row].get(), rope, {.rows = Range{row * 99, row * 99 + 9}});
  }
  ExpectLocalBytes(large.get(), kLarge);
}

}  // namespace
}  // namespace posenc

#include <barrier>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/integration/process.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

constexpr int kCallers = 64;

TEST(SingleFlightTest, ConcurrentFirstRequestsGenerateEveryBlockOnce) {
  const ServerProcess server;
  const Rope rope{.head_dim = 128, .max_len = 16384};
  std::barrier start(kCallers);
  std::vector<absl::StatusOr<Table>> tables(kCallers, absl::UnknownError("not asked"));
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      Client client(MakeConnection(server.target()));
      start.arrive_and_wait();
      tables[i] = client.Get(rope);
    });
  }
  for (std::thread& caller : callers) caller.join();

  Client client(MakeConnection(server.target()));
  const auto description = client.Describe(rope);
  ASSERT_OK(description);
  const int64_t blocks = (description->rows + description->rows_per_block - 1) / description->rows_per_block;
  const auto info = client.ServerInfo();
  ASSERT_OK(info);
  EXPECT_EQ(info->cache.blocks_generated, static_cast<uint64_t>(blocks));
  EXPECT_EQ(info->cache.misses, static_cast<uint64_t>(blocks));
  EXPECT_EQ(info->cache.hits + info->cache.coalesced, static_cast<uint64_t>((kCallers - 1) * blocks));
  for (const auto& table : tables) {
    ASSERT_OK(table);
    EXPECT_TRUE(ContentOf(*table) == ContentOf(*tables[0]));
  }
}

}  // namespace
}  // namespace posenc

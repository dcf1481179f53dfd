#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/integration/process.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

constexpr int kReaders = 8;
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kBudget = 128 * kMiB;
constexpr int64_t kChunksBetweenStops = 64;

// Readers that stop for each other every few chunks: the server is always ahead of most of them.
TEST(SlowReadersTest, MemoryStaysWithinTheBudgetAnd64Mebibytes) {
  const ServerProcess server({"--cache-bytes", "128MiB"});
  const Sinusoidal table{.d_model = 4096, .max_len = 65536};  // 1 GiB
  const int64_t before = server.resident_bytes();
  std::barrier stop(kReaders);
  std::atomic<int64_t> received_bytes = 0;
  std::vector<absl::Status> statuses(kReaders);
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&, i] {
      Client client(MakeConnection(server.target()));
      int64_t chunks = 0;
      const auto on_chunk = [&](const Chunk& chunk) {
        received_bytes += static_cast<int64_t>(chunk.tensors[0].size());
        if (++chunks % kChunksBetweenStops == 0) stop.arrive_and_wait();
        return absl::OkStatus();
      };
      statuses[i] = client.Stream(table, {}, on_chunk, {.timeout = absl::Minutes(8)});
      stop.arrive_and_drop();
    });
  }
  for (std::thread& reader : readers) reader.join();
  for (const absl::Status& status : statuses) EXPECT_OK(status);
  EXPECT_EQ(received_bytes, kReaders * 1024 * kMiB);
  const int64_t over_budget = server.peak_resident_bytes() - before - kBudget;
  RecordProperty("over_budget_bytes", std::to_string(over_budget));
  EXPECT_LT(over_budget, 64 * kMiB);
}

}  // namespace
}  // namespace posenc

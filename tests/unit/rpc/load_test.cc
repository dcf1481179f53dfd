// Many clients at once.

#include <string>
#include <thread>
#include <vector>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

class LoadTest : public RpcTest {
 protected:
  void CancelAtOnce(const std::string& request) {
    const auto stream = OpenSlice(request);
    stream->Cancel();
    EXPECT_EQ(stream->Finish().code(), absl::StatusCode::kCancelled);
  }

  template <typename Work>
  static void InParallel(int clients, Work work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < clients; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_F(LoadTest, ManyFirstRequestsGenerateOnce) {
  const std::string request = "spec { rope { head_dim: 128 max_len: 128 } }";
  InParallel(64, [&](int) { EXPECT_OK(GetSlice(request)); });
  EXPECT_EQ(store().stats().generated_blocks, 1u);
}

TEST_F(LoadTest, StreamsShareASmallBudget) {
  Restart({.budget_bytes = size_t{1} << 20});
  const std::string spec = "rope { head_dim: 128 max_len: 5000 }";
  const std::string expected = ExpectedRows(spec, 0, 5000, 1);
  InParallel(16, [&](int) {
    const StreamedSlice slice = StreamSlice("spec {" + spec + "}");
    EXPECT_OK(slice.status);
    EXPECT_EQ(slice.Data(1), expected);
  });
  EXPECT_LE(store().stats().peak_bytes, size_t{1} << 20);
  EXPECT_TRUE(MemoryComesBack());
}

// Each holds its answer's buffer when it needs a block: waiting for each other's memory, none would end.
TEST_F(LoadTest, CutColumnsOfManyCallersFitABudgetThatTheirBuffersFill) {
  Restart({.budget_bytes = size_t{1} << 20});
  const std::string request =
      "spec { rope { head_dim: 512 max_len: 4000 } } selection { rows { end: 4000 } columns { end: 4 } }";
  const std::string spec = "rope { head_dim: 512 max_len: 4000 }";
  const std::string expected = CutRows(ExpectedRows(spec, 0, 4000), 1024, 0, 16);
  InParallel(24, [&](int) {
    const auto slice = GetSlice(request);
    ASSERT_OK(slice);
    EXPECT_EQ(slice->tensors(0).data(), expected);
  });
  EXPECT_LE(store().stats().peak_bytes, size_t{1} << 20);
  EXPECT_TRUE(MemoryComesBack());
}

TEST_F(LoadTest, AMixtureOfEverythingIsServed) {
  Restart({.budget_bytes = size_t{4} << 20});
  const std::string spec = "spec { rope { head_dim: 128 max_len: 3000 } }";
  InParallel(16, [&](int client) {
    for (int i = 0; i < 10; ++i) {
      switch ((client + i) % 5) {
        case 0: EXPECT_OK(GetSlice(spec + " selection { positions { values: [5, -7, 2999] } }")); break;
        case 1: EXPECT_OK(StreamSlice(spec + " selection { columns { end: 3 } }").status); break;
        case 2: CancelAtOnce(spec); break;
        case 3: EXPECT_OK(EvictTables("all: true")); break;
        default: EXPECT_OK(StreamSlice(spec).status);
      }
    }
  });
  EXPECT_TRUE(MemoryComesBack());
  EXPECT_OK(GetServerInfo());
}

}  // namespace
}  // namespace posenc

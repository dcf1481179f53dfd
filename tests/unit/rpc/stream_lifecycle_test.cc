// Streams that do not end well: cancelled, stalled, slow. Every test waits for an event; memory is back
// when the store grants all of it.

#include <memory>
#include <string>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

class StreamLifecycleTest : public RpcTest {
 protected:
  // 102 MB: far more than windows and socket buffers take.
  static constexpr char kLong[] = "spec { rope { head_dim: 128 max_len: 200000 } }";
  static constexpr size_t kBudgetBytes = size_t{2} << 20;

  // Bytes held by streams: nothing else holds blocks that are evicted.
  size_t HeldBytes() {
    store().EvictAll();
    return store().stats().orphaned_bytes;
  }
};

TEST_F(StreamLifecycleTest, CancelledStreamsLetGoOfTheirBlocks) {
  Restart({.budget_bytes = kBudgetBytes});
  const auto stream = OpenSlice(kLong);
  v1::StreamSliceResponse chunk;
  ASSERT_TRUE(stream->Read(&chunk));
  stream->Cancel();
  while (stream->Read(&chunk)) {
  }
  EXPECT_EQ(stream->Finish().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(MemoryComesBack());
}

TEST_F(StreamLifecycleTest, StreamsCancelledAtOnceLetGoOfEverything) {
  Restart({.budget_bytes = kBudgetBytes});
  for (int i = 0; i < 50; ++i) {
    const auto stream = OpenSlice(kLong);
    stream->Cancel();
    EXPECT_EQ(stream->Finish().code(), absl::StatusCode::kCancelled);
  }
  EXPECT_TRUE(MemoryComesBack());
  EXPECT_OK(GetServerInfo());
}

TEST_F(StreamLifecycleTest, AStalledReaderIsCutOff) {
  Restart({.budget_bytes = kBudgetBytes, .stall_timeout = absl::Milliseconds(200)});
  const auto stream = OpenSlice(kLong);
  v1::StreamSliceResponse chunk;
  ASSERT_TRUE(stream->Read(&chunk));
  EXPECT_OK(StreamSlice(kLong).status);  // meanwhile this one comes to its rest
  EXPECT_TRUE(MemoryComesBack());        // without a read, a cancel or the client's deadline
  while (stream->Read(&chunk)) {
  }
  EXPECT_THAT(stream->Finish(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("on the server side")));
}

TEST_F(StreamLifecycleTest, AReaderThatKeepsReadingIsNotCutOff) {
  Restart({.budget_bytes = kBudgetBytes, .stall_timeout = absl::Milliseconds(300)});
  const StreamedSlice slice = StreamSlice(kLong);
  EXPECT_OK(slice.status);
  EXPECT_EQ(slice.rows(), 200000);
}

TEST_F(StreamLifecycleTest, ASlowReaderHoldsAFewBlocks) {
  Restart({.budget_bytes = kBudgetBytes});
  const auto slow = OpenSlice(kLong);
  v1::StreamSliceResponse chunk;
  ASSERT_TRUE(slow->Read(&chunk));
  EXPECT_OK(StreamSlice(kLong).status);  // meanwhile the slow one comes to its rest
  EXPECT_LE(HeldBytes(), size_t{8} * (64 << 10));
  while (slow->Read(&chunk)) {
  }
  EXPECT_OK(slow->Finish());
}

TEST_F(StreamLifecycleTest, AGatherLetsGoOfItsBuffers) {
  Restart({.budget_bytes = kBudgetBytes});
  std::string values;
  for (int i = 0; i < 20000; ++i) values += " values: " + std::to_string(i * 7);
  const auto stream = OpenSlice(std::string(kLong) + " selection { positions {" + values + "} }");
  v1::StreamSliceResponse chunk;
  ASSERT_TRUE(stream->Read(&chunk));
  stream->Cancel();
  EXPECT_EQ(stream->Finish().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(MemoryComesBack());
}

TEST_F(StreamLifecycleTest, CancelledCutColumnsStop) {
  Restart({.budget_bytes = size_t{8} << 20});
  const auto cut = GetSlice(
      "spec { rope { head_dim: 128 max_len: 520000 layout: ROPE_LAYOUT_SPLIT_DUPLICATED } } "
      "selection { columns { end: 1 } }",
      absl::Milliseconds(30));
  EXPECT_EQ(cut.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(MemoryComesBack());
  EXPECT_LT(store().stats().generated_blocks, 7000u);  // of 8125
}

}  // namespace
}  // namespace posenc

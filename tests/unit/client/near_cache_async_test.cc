#include <ctime>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "client/near_cache/near_cache_keys.h"
#include "posenc/client.h"
#include "posenc/mock_connection.h"
#include "posenc/near_cache.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

absl::Duration ThreadTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

// A connection whose asynchronous calls end when a test wants it.
class HeldConnection : public MockConnection {
 public:
  bool FetchAsync(const FetchParams&, std::function<void(absl::StatusOr<Table>)> done) override {
    done_ = std::move(done);
    return true;
  }
  std::function<void(absl::StatusOr<Table>)> done_;
};

// The widest frequencies take milliseconds.
TEST(NearCacheAsyncTest, CallerOfAnUnknownTableMakesNoGenerator) {
  const auto inner = std::make_shared<HeldConnection>();
  const auto cache = MakeCachingConnection(inner);
  const TableRequest wide = Sinusoidal{.d_model = 65536, .max_len = 8};
  const absl::Duration before = ThreadTime();
  ASSERT_NE(IdentifyTable(wide.spec()), nullptr);
  const absl::Duration of_generator = ThreadTime() - before;
  bool answered = false;
  const absl::Duration begin = ThreadTime();
  ASSERT_TRUE(cache->FetchAsync({.spec = wide.spec(), .selection = {.rows = Range{0, 1}}},
                                [&](const absl::StatusOr<Table>& table) { answered = table.ok(); }));
  EXPECT_LT(ThreadTime() - begin, of_generator / 2);
  inner->done_(Client(MakeLocalConnection()).Slice(wide, {.rows = Range{0, 1}}));
  EXPECT_TRUE(answered);
  // Kept, and found in another spelling.
  EXPECT_TRUE(cache->Recall(wide.spec(), {.rows = Range{0, 1}}).has_value());
  TableSpec spelt = wide.spec();
  spelt.element_type = ElementType::kF32;
  EXPECT_FALSE(cache->FetchAsync({.spec = spelt, .selection = {.rows = Range{0, 1}}}, {}));
  EXPECT_TRUE(cache->Recall(spelt, {.rows = Range{0, 1}}).has_value());
}

}  // namespace
}  // namespace posenc

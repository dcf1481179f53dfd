#include "server/app/admin/server_collector.h"

#include <prometheus/text_serializer.h>

#include <string>

#include "gmock/gmock.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

class ServerCollectorTest : public testing::Test {
 protected:
  std::string Page() const {
    return prometheus::TextSerializer().prometheus::Serializer::Serialize(collector_.Collect());
  }

  StoreStats stats_;
  Lifecycle lifecycle_;
  Logger log_{LogFormat::kText, LogLevel::kInfo};
  ServerCollector collector_{[this] { return stats_; }, lifecycle_, log_,
                             {.version = "1.2.3", .revision = "abc", .compiler = "C \"++\"",
                              .grpc_version = "1.51", .protobuf_version = "3.21", .kernel_target = "AVX2"}};
};

TEST_F(ServerCollectorTest, EveryNumberOfTheStoreIsThere) {
  stats_.hits = 1, stats_.misses = 2, stats_.coalesced = 3;
  stats_.limit_bytes = 10, stats_.resident_bytes = 11, stats_.pinned_bytes = 12;
  stats_.building_bytes = 13, stats_.buffer_bytes = 14, stats_.orphaned_bytes = 15;
  stats_.spare_bytes = 19, stats_.generator_bytes = 16, stats_.peak_bytes = 17, stats_.waiting_requests = 18;
  stats_.generated_by_family = {20, 21, 22};
  stats_.capacity_evictions = 30, stats_.admin_evictions = 31, stats_.evicted_bytes = 32;
  stats_.rejected_too_large = 40, stats_.rejected_timeout = 41, stats_.cancelled_builds = 42;
  const std::string page = Page();
  for (const char* line :
       {"posenc_cache_requests_total{result=\"hit\"} 1\n", "{result=\"miss\"} 2\n",
        "{result=\"coalesced\"} 3\n", "posenc_cache_limit_bytes 10\n", "{state=\"resident\"} 11\n",
        "{state=\"pinned\"} 12\n", "{state=\"building\"} 13\n", "{state=\"buffers\"} 14\n",
        "{state=\"orphaned\"} 15\n", "{state=\"generators\"} 16\n", "posenc_cache_peak_bytes 17\n",
        "posenc_waiting_requests 18\n", "{family=\"sinusoidal\"} 20\n", "{family=\"rope\"} 21\n",
        "{family=\"alibi\"} 22\n", "{reason=\"capacity\"} 30\n", "{reason=\"admin\"} 31\n",
        "posenc_cache_evicted_bytes_total 32\n", "{reason=\"too_large\"} 40\n",
        "{reason=\"timeout\"} 41\n", "posenc_cancelled_builds_total 42\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
}

TEST_F(ServerCollectorTest, GenerationTimesAreACumulativeHistogram) {
  stats_.generation.counts[0] = 2;
  stats_.generation.counts.back() = 1;
  stats_.generation.sum_seconds = 5;
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("posenc_block_generation_seconds_bucket{le=\"1\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("posenc_block_generation_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("posenc_block_generation_seconds_sum 5\n"));
}

TEST_F(ServerCollectorTest, LifeOfTheServerIsTold) {
  lifecycle_.SetWarmTables(3);
  lifecycle_.TableWarmed();
  lifecycle_.TableFailed();
  EXPECT_THAT(Page(), HasSubstr("posenc_warm_tables{state=\"pending\"} 1\n"));
  EXPECT_THAT(Page(), HasSubstr("posenc_ready 0\n"));
  lifecycle_.SetServing();
  EXPECT_THAT(Page(), HasSubstr("posenc_ready 1\n"));
  lifecycle_.SetDraining();
  EXPECT_THAT(Page(), HasSubstr("posenc_ready 0\n"));
  EXPECT_THAT(Page(), HasSubstr("posenc_draining 1\n"));
}

TEST_F(ServerCollectorTest, BuildAndLogAreTold) {
  EXPECT_THAT(Page(), HasSubstr("compiler=\"C \\\"++\\\"\""));
  EXPECT_THAT(Page(), HasSubstr("posenc_log_messages_total{level=\"error\"} 0\n"));
}

}  // namespace
}  // namespace posenc

#include "server/telemetry/process_collector.h"

#include <map>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Le;
using ::testing::UnorderedElementsAre;

std::map<std::string, double> Collected() {
  std::map<std::string, double> values;
  for (const auto& family : ProcessCollector().Collect()) {
    const auto& sample = family.metric.at(0);
    const bool counts = family.type == prometheus::MetricType::Counter;
    values[family.name] = counts ? sample.counter.value : sample.gauge.value;
  }
  return values;
}

TEST(ProcessCollectorTest, GivesTheSevenFamiliesOfOtherLanguages) {
  std::vector<std::string> names;
  for (const auto& [name, value] : Collected()) names.push_back(name);
  EXPECT_THAT(names, UnorderedElementsAre("process_cpu_seconds_total", "process_resident_memory_bytes",
                                          "process_virtual_memory_bytes", "process_open_fds",
                                          "process_max_fds", "process_start_time_seconds",
                                          "process_threads"));
}

TEST(ProcessCollectorTest, ValuesAreThoseOfAProcessThatHasJustBegun) {
  auto values = Collected();
  const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  EXPECT_THAT(values["process_start_time_seconds"], AllOf(Gt(now - 3600), Le(now + 1)));
  EXPECT_THAT(values["process_resident_memory_bytes"],
              AllOf(Gt(1 << 20), Le(values["process_virtual_memory_bytes"])));
  EXPECT_THAT(values["process_open_fds"], AllOf(Ge(3), Le(values["process_max_fds"])));
  EXPECT_THAT(values["process_threads"], AllOf(Ge(1), Le(100)));
  EXPECT_THAT(values["process_cpu_seconds_total"], AllOf(Ge(0), Le(3600)));
}

TEST(ProcessCollectorTest, SeesAnOpenedFile) {
  const double before = Collected()["process_open_fds"];
  FILE* file = std::tmpfile();
  EXPECT_EQ(Collected()["process_open_fds"], before + 1);
  std::fclose(file);
}

}  // namespace
}  // namespace posenc

// How long a slice takes that the client's own cache has: no call, no copy of numbers.

#include "posenc/client.h"
#include "posenc/near_cache.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr int kRounds = 31;
constexpr int kCalls = 20000;

void NearCache() {
  Client client(MakeCachingConnection(MakeLocalConnection()));
  const Rope rope{.head_dim = 128, .max_len = 131072, .base = 500000.0};
  std::vector<double> nanoseconds;
  for (int round = 0; round < kRounds; ++round) {
    absl::Status status;
    const double seconds = Seconds([&] {
      for (int call = 0; call < kCalls; ++call) {
        status.Update(client.Slice(rope, {.rows = Range{0, 128}}).status());
      }
    });
    ExitOnError(status);
    nanoseconds.push_back(seconds / kCalls * 1e9);
  }
  const Summary summary = Summarize(nanoseconds);
  Print({.key = "near_cache_slice_ns",
         .what = "a repeated slice of 128 rows from the client's cache, spec and selection made anew",
         .value = summary,
         .ours = TimeText(summary.median * 1e-9),
         .alternative = ""});
}

}  // namespace
}  // namespace posenc::bench

int main() {
  posenc::bench::NearCache();
  return 0;
}

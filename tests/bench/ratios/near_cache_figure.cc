// How long a slice takes that the client's own cache has: no call, no copy of numbers.

#include "posenc/client.h"
#include "posenc/near_cache.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr int kRounds = 31;
constexpr int kCalls = 20000;

void Measure(const std::string& key, const std::string& what,
             const std::function<absl::Status()>& slice) {
  std::vector<double> nanoseconds;
  for (int round = 0; round < kRounds; ++round) {
    absl::Status status;
    const double seconds = Seconds([&] {
      for (int call = 0; call < kCalls; ++call) status.Update(slice());
    });
    ExitOnError(status);
    nanoseconds.push_back(seconds / kCalls * 1e9);
  }
  const Summary summary = Summarize(nanoseconds);
  Print({.key = key,
         .what = what,
         .value = summary,
         .ours = TimeText(summary.median * 1e-9),
         .alternative = ""});
}

void NearCache() {
  Client client(MakeCachingConnection(MakeLocalConnection()));
  const Rope rope{.head_dim = 128, .max_len = 131072, .base = 500000.0};
  Measure("near_cache_slice_ns",
          "a repeated slice of 128 rows from the client's cache, spec and selection made anew",
          [&] { return client.Slice(rope, {.rows = Range{0, 128}}).status(); });
  const TableRequest request = rope;
  const Selection selection{.rows = Range{0, 128}};
  Measure("near_cache_kept_request_ns", "the same, spec and selection kept by the caller",
          [&] { return client.Slice(request, selection).status(); });
}

}  // namespace
}  // namespace posenc::bench

int main() {
  posenc::bench::NearCache();
  return 0;
}

// Time to fetch a table over its size, warm and cold.

#include <iostream>

#include "absl/strings/str_cat.h"
#include "posenc/client.h"
#include "tests/bench/growth/growth.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/pages.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr uint64_t kRowBytes = 512;  // cos and sin of head_dim 128
constexpr uint64_t kServerBytes = uint64_t{4608} << 20;
// Larger tables are not held by the client: their chunks pass through.
constexpr uint64_t kMaxHeldBytes = uint64_t{1} << 30;

struct Size {
  uint64_t bytes;
  int repeats;
};

constexpr Size kSizes[] = {
    {uint64_t{1} << 10, 101},  {uint64_t{16} << 10, 101}, {uint64_t{256} << 10, 51}, {uint64_t{1} << 20, 31},
    {uint64_t{16} << 20, 11}, {uint64_t{256} << 20, 5},  {uint64_t{1} << 30, 3},    {uint64_t{4} << 30, 2},
};

double FetchSeconds(Client& client, const Rope& rope, uint64_t bytes) {
  return Seconds([&] {
    if (bytes <= kMaxHeldBytes) return ExitOnError(client.Get(rope).status());
    ExitOnError(client.Stream(rope, {}, [](const Chunk&) { return absl::OkStatus(); }));
  });
}

// Seconds that the kernel takes to give out a GiB of new memory.
double FirstTouchSeconds() {
  std::vector<double> seconds;
  for (int i = 0; i < 7; ++i) seconds.push_back(4 * Seconds([] { const Pages pages(size_t{256} << 20); }));
  return Summarize(seconds).median;
}

}  // namespace

void PrintFetchOverSize() {
  const PosencServer server = ValueOrExit(StartPosencServer({"--cache-bytes", absl::StrCat(kServerBytes)}));
  Client client(MakeConnection(server.target, {.shared_memory = false}));
  // A server that has been at work for a while: it has had all of its memory, and large blocks find it again.
  const Rope first{.head_dim = 128, .max_len = kServerBytes / kRowBytes};
  ExitOnError(client.Warm({.specs = {TableRequest(first).spec()}, .unpinned = true}));
  std::vector<std::vector<std::string>> rows;
  double base = 10000.0;
  for (const Size& size : kSizes) {
    Rope rope{.head_dim = 128, .max_len = static_cast<int64_t>(size.bytes / kRowBytes)};
    std::vector<double> cold, warm;
    for (int i = 0; i < size.repeats; ++i) {
      rope.base = ++base;  // a table that nobody has asked for
      cold.push_back(FetchSeconds(client, rope, size.bytes));
      warm.push_back(FetchSeconds(client, rope, size.bytes));
    }
    const double warm_seconds = Summarize(warm).median, cold_seconds = Summarize(cold).median;
    rows.push_back({SizeText(size.bytes), absl::StrCat(rope.max_len), TimeText(warm_seconds),
                    RateText(size.bytes, warm_seconds), TimeText(cold_seconds),
                    RateText(size.bytes, cold_seconds)});
  }
  std::cout << "### Time to fetch, over the size of the table\n\n"
               "Rotary tables of head_dim 128 in F32, one client over loopback gRPC into new memory; the one of "
               "4 GiB passes through in chunks. Medians. Cold: nobody has asked for the table before; its blocks take the "
               "memory of others. New memory alone costs the client "
            << TimeText(FirstTouchSeconds()) << " for each GiB here.\n\n";
  PrintTable({"table", "rows", "warm", "", "cold", ""}, rows);
}

}  // namespace posenc::bench

// Time to generate a row over its position: far out the angles need more digits, not more steps.

#include <iostream>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "posenc/client.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/table_generator.h"
#include "tests/bench/growth/growth.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr int kRepeats = 31;
constexpr int64_t kRows = 2048;

std::string NanosecondsPerRow(const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < kRepeats; ++i) seconds.push_back(Seconds(work));
  return absl::StrFormat("%.0f ns", Summarize(seconds).median / kRows * 1e9);
}

}  // namespace

void PrintPositions() {
  const PosencServer server = ValueOrExit(StartPosencServer({"--cache-bytes", "256MiB"}));
  Client client(MakeConnection(server.target));
  const Rope rope{.head_dim = 128, .max_len = int64_t{1} << 41};
  const auto generator = ValueOrExit(MakeTableGenerator(ValueOrExit(Normalize({.family = rope}))));
  std::vector<float> cos(kRows * 64), sin(kRows * 64);
  std::byte* const out[] = {reinterpret_cast<std::byte*>(cos.data()), reinterpret_cast<std::byte*>(sin.data())};
  std::vector<std::vector<std::string>> rows;
  for (const int64_t position : {int64_t{1}, int64_t{1000}, int64_t{1000000}, int64_t{1000000000},
                                 int64_t{1000000000000}}) {
    std::vector<double> scattered(kRows);
    for (size_t i = 0; i < scattered.size(); ++i) {
      scattered[i] = static_cast<double>(position + static_cast<int64_t>(i * 7919 % 1000003));
    }
    const std::vector<int64_t> asked(scattered.begin(), scattered.end());
    rows.push_back({absl::StrCat(position),
                    NanosecondsPerRow([&] { generator->Generate(position, kRows, out); }),
                    NanosecondsPerRow([&] { generator->GenerateAt(scattered, out); }),
                    NanosecondsPerRow([&] { ExitOnError(client.Gather(rope, asked).status()); })});
  }
  std::cout << "### Time for each row, over its position\n\nhead_dim 128 in F32, 2048 rows at once: next to each "
               "other, as a block is generated; scattered, by the generator and over gRPC "
               "(GetSlice with positions).\n\n";
  PrintTable({"first position", "next to each other", "scattered", "scattered, over gRPC"}, rows);
}

}  // namespace posenc::bench

// posenc over loopback gRPC next to the least that gRPC can do (bare_server's raw service) and to the usual
// (its typed service). All servers are processes of their own, all clients are in this one.

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "posenc/client.h"
#include "tests/bench/bare/bare_client.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/pages.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr int kBatches = 60;
constexpr int kBatchCalls = 150;
constexpr int64_t kSmallRows = 8;  // 4 KiB of cos and sin
constexpr size_t kSmallBytes = 4096;
constexpr size_t kRequestBytes = 40;
constexpr int64_t kTableRows = 524288;
constexpr size_t kTableBytes = size_t{256} << 20;
constexpr size_t kTensorBytes = kTableBytes / 2;
constexpr int kRawRounds = 21;
constexpr int kTypedRounds = 7;

const Rope kTable{.head_dim = 128, .max_len = kTableRows, .base = 500000.0};

// The median of a batch of calls, in seconds.
double MedianOfBatch(const std::function<absl::Status()>& call) {
  std::vector<double> seconds;
  for (int i = 0; i < kBatchCalls; ++i) {
    absl::Status status;
    seconds.push_back(Seconds([&] { status = call(); }));
    ExitOnError(status);
  }
  return Percentile(seconds, 0.5);
}

class RpcRatios {
 public:
  void UnaryVsRaw() {
    const Selection selection{.rows = Range{1000, 1000 + kSmallRows}};
    const Timing timing = MeasureInterleaved(
        kBatches, [&] { return MedianOfBatch([&] { return ours_.Slice(kTable, selection).status(); }); },
        [&] { return MedianOfBatch([&] { return raw_.CallUnary(kRequestBytes); }); });
    Print({.key = "unary_4k_vs_raw_grpc",
           .what = "p50 of a resident 4 KiB GetSlice over p50 of a bare call that answers as many bytes",
           .value = Summarize(OursOverAlternative(timing)),
           .ours = TimeText(Summarize(timing.ours).median),
           .alternative = TimeText(Summarize(timing.alternative).median)});
  }

  void StreamVsRaw() {
    Stream("stream_vs_raw_grpc", "a bare stream of a constant buffer in 1 MiB messages", kRawRounds,
           [&] { return raw_.ReadStream(memory_.span()); });
  }
  void StreamVsTyped() {
    Stream("stream_vs_typed_grpc", "generated server and client, 1 MiB messages", kTypedRounds,
           [&] { return typed_.ReadStream(memory_.span()); });
  }
  void StreamVsTypedMessage() {
    Stream("stream_vs_typed_message", "generated server and client, one message", kTypedRounds,
           [&] { return typed_.ReadMessage(memory_.span()); });
  }

 private:
  void Stream(const std::string& key, const std::string& what, int rounds,
              const std::function<absl::Status()>& alternative) {
    const std::vector<std::span<std::byte>> destinations = {memory_.span().first(kTensorBytes),
                                                            memory_.span().subspan(kTensorBytes)};
    const Timing timing = RunInterleaved(
        rounds, [&] { ExitOnError(ours_.ReadInto(kTable, {}, destinations)); },
        [&] { ExitOnError(alternative()); });
    Print({.key = key,
           .what = absl::StrCat("a warm table of 256 MiB into the caller's memory: ", what, ", time over ours"),
           .value = Summarize(AlternativeOverOurs(timing)),
           .ours = RateText(kTableBytes, Summarize(timing.ours).median),
           .alternative = RateText(kTableBytes, Summarize(timing.alternative).median)});
  }

  const PosencServer server_ = ValueOrExit(StartPosencServer({"--cache-bytes", "512MiB"}));
  const BareServer bare_ = ValueOrExit(StartBareServer(kSmallBytes, kTableBytes >> 20));
  Client ours_{MakeConnection(server_.target, {.shared_memory = false})};
  RawClient raw_{bare_.raw_target};
  TypedClient typed_{bare_.typed_target};
  const Pages memory_{kTableBytes};
};

}  // namespace
}  // namespace posenc::bench

// With an argument, only the ratio of that key.
int main(int argc, char** argv) {
  using posenc::bench::RpcRatios;
  const std::vector<std::pair<std::string, void (RpcRatios::*)()>> ratios = {
      {"unary_4k_vs_raw_grpc", &RpcRatios::UnaryVsRaw},
      {"stream_vs_raw_grpc", &RpcRatios::StreamVsRaw},
      {"stream_vs_typed_grpc", &RpcRatios::StreamVsTyped},
      {"stream_vs_typed_message", &RpcRatios::StreamVsTypedMessage},
  };
  RpcRatios programs;
  for (const auto& [key, measure] : ratios) {
    if (argc < 2 || key == argv[1]) (programs.*measure)();
  }
  return 0;
}

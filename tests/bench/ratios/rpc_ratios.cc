// posenc over loopback gRPC next to the least that gRPC can do (bare_server's raw service) and to the usual
// (its typed service). All servers are processes of their own, all clients are in this one.

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "posenc/client.h"
#include "proto/selection_codec.h"
#include "proto/spec_codec.h"
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
constexpr int64_t kTableRows = 524288;
constexpr size_t kTableBytes = size_t{256} << 20;
constexpr size_t kTensorBytes = kTableBytes / 2;
constexpr size_t kFramingBytes = size_t{1} << 20;  // more than all messages have besides the table
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

// A request of either method: the messages have the same first fields.
std::string Request(const Selection& selection) {
  v1::GetSliceRequest request;
  *request.mutable_spec() = EncodeSpec({.family = kTable});
  *request.mutable_selection() = EncodeSelection(selection);
  return request.SerializeAsString();
}

class RpcRatios {
 public:
  RpcRatios() { ExitOnError(ReadTable()); }

  void UnaryVsRaw() {
    Unary("unary_4k_vs_raw_grpc",
          "p50 of a resident 4 KiB GetSlice over p50 of a bare call that answers as many bytes",
          [&] { return ours_.Slice(kTable, small_).status(); });
  }
  void UnaryServerVsRaw() {
    Unary("unary_4k_server_vs_raw_grpc", "the same with the bare client on both sides",
          [&] { return raw_to_ours_.CallUnary(small_request_); });
  }

  void StreamVsRaw() {
    Stream("stream_vs_raw_grpc", "a bare stream of a constant buffer in messages of 2 MiB", kRawRounds,
           [&] { return ReadTable(); }, [&] { return ReadRaw(raw_); });
  }
  void StreamServerVsRaw() {
    Stream("stream_server_vs_raw_grpc", "the same with the bare client on both sides", kRawRounds,
           [&] { return ReadRaw(raw_to_ours_); }, [&] { return ReadRaw(raw_); });
  }
  void StreamVsTyped() {
    Stream("stream_vs_typed_grpc", "generated server and client, messages of 1 MiB", kTypedRounds,
           [&] { return ReadTable(); }, [&] { return typed_.ReadStream(table_memory()); });
  }
  void StreamVsTypedMessage() {
    Stream("stream_vs_typed_message", "generated server and client, one message", kTypedRounds,
           [&] { return ReadTable(); }, [&] { return typed_.ReadMessage(table_memory()); });
  }

 private:
  std::span<std::byte> table_memory() const { return memory_.span().first(kTableBytes); }

  absl::Status ReadTable() {
    return ours_.ReadInto(kTable, {},
                          {table_memory().first(kTensorBytes), table_memory().subspan(kTensorBytes)});
  }
  absl::Status ReadRaw(RawClient& client) {
    return client.ReadStream(Request({}), memory_.span(), kTableBytes);
  }

  void Unary(const std::string& key, const std::string& what, const std::function<absl::Status()>& ours) {
    const Timing timing =
        MeasureInterleaved(kBatches, [&] { return MedianOfBatch(ours); },
                           [&] { return MedianOfBatch([&] { return raw_.CallUnary(small_request_); }); });
    Print({.key = key,
           .what = what,
           .value = Summarize(OursOverAlternative(timing)),
           .ours = TimeText(Summarize(timing.ours).median),
           .alternative = TimeText(Summarize(timing.alternative).median)});
  }

  void Stream(const std::string& key, const std::string& what, int rounds,
              const std::function<absl::Status()>& ours, const std::function<absl::Status()>& alternative) {
    const Timing timing =
        RunInterleaved(rounds, [&] { ExitOnError(ours()); }, [&] { ExitOnError(alternative()); });
    Print({.key = key,
           .what = absl::StrCat("a warm table of 256 MiB into the caller's memory: ", what, ", time over ours"),
           .value = Summarize(AlternativeOverOurs(timing)),
           .ours = RateText(kTableBytes, Summarize(timing.ours).median),
           .alternative = RateText(kTableBytes, Summarize(timing.alternative).median)});
  }

  const PosencServer server_ = ValueOrExit(StartPosencServer({"--cache-bytes", "512MiB"}));
  const BareServer bare_ = ValueOrExit(StartBareServer(kSmallBytes, kTableBytes));
  Client ours_{MakeConnection(server_.target, {.shared_memory = false})};
  RawClient raw_{bare_.raw_target};
  RawClient raw_to_ours_{server_.target};
  TypedClient typed_{bare_.typed_target};
  const Pages memory_{kTableBytes + kFramingBytes};
  const Selection small_{.rows = Range{1000, 1000 + kSmallRows}};
  const std::string small_request_ = Request(small_);
};

}  // namespace
}  // namespace posenc::bench

// With an argument, only the ratio of that key.
int main(int argc, char** argv) {
  using posenc::bench::RpcRatios;
  const std::vector<std::pair<std::string, void (RpcRatios::*)()>> ratios = {
      {"unary_4k_vs_raw_grpc", &RpcRatios::UnaryVsRaw},
      {"unary_4k_server_vs_raw_grpc", &RpcRatios::UnaryServerVsRaw},
      {"stream_vs_raw_grpc", &RpcRatios::StreamVsRaw},
      {"stream_server_vs_raw_grpc", &RpcRatios::StreamServerVsRaw},
      {"stream_vs_typed_grpc", &RpcRatios::StreamVsTyped},
      {"stream_vs_typed_message", &RpcRatios::StreamVsTypedMessage},
  };
  RpcRatios programs;
  for (const auto& [key, measure] : ratios) {
    if (argc < 2 || key == argv[1]) (programs.*measure)();
  }
  return 0;
}

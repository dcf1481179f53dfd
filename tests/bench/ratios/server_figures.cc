// What a server does that nothing else could be measured against: figures with units of their own.

#include <unistd.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "posenc/client.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
const Sinusoidal kGibibyte{.d_model = 4096, .max_len = 65536};

void PrintFigure(const std::string& key, const std::string& what, const std::vector<double>& values,
                 const std::string& ours, const std::string& alternative = "") {
  Print({.key = key, .what = what, .value = Summarize(values), .ours = ours, .alternative = alternative});
}

std::string MedianMilliseconds(const std::vector<double>& milliseconds) {
  return absl::StrFormat("%.2f ms", Summarize(milliseconds).median);
}

// A folder of its own for a socket; gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() { std::filesystem::create_directory(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_ =
      std::filesystem::temp_directory_path() / absl::StrCat("posenc-bench-", getpid());
};

double FirstAndLast(const Table& table) {
  const std::span<const float> numbers = table.tensor<float>("table");
  double sum = 0;
  for (const auto row : {numbers.first(4096), numbers.last(4096)}) {
    for (const float number : row) sum += number;
  }
  return sum;
}

// Opens and maps the table, reads two rows; the unmapping is not counted.
double AttachMilliseconds(Client& client) {
  absl::StatusOr<Table> table;
  volatile double kept = 0;
  const double seconds = Seconds([&] {
    table = client.Get(kGibibyte);
    ExitOnError(table.status());
    kept = FirstAndLast(*table);
  });
  return seconds * 1e3;
}

void Attach() {
  static const TemporaryFolder folder;  // removed by std::exit too
  const PosencServer server = ValueOrExit(StartPosencServer(
      {"--shared-memory-socket", absl::StrCat(folder.path(), "/memory.sock"), "--cache-bytes", "1536MiB"}));
  Client client(MakeConnection(server.target));
  AttachMilliseconds(client);
  std::vector<double> warm, fresh;
  for (int round = 0; round < 31; ++round) {
    warm.push_back(AttachMilliseconds(client));
    fresh.push_back(Seconds([&] {
                      Client stranger(MakeConnection(server.target));
                      AttachMilliseconds(stranger);
                    }) *
                    1e3);
  }
  PrintFigure("attach_1gib_ms", "map a warm table of 1 GiB on the same host, first and last row read", warm,
              MedianMilliseconds(warm));
  PrintFigure("attach_1gib_new_client_ms", "the same with connecting before and unmapping behind it", fresh,
              MedianMilliseconds(fresh));
}

void ColdFirstRow(const std::string& key, const std::string& what,
                  const std::function<TableRequest(double base)>& table) {
  const PosencServer server = ValueOrExit(StartPosencServer({"--cache-bytes", "256MiB"}));
  Client client(MakeConnection(server.target));
  std::vector<double> milliseconds;
  for (int round = 0; round <= 31; ++round) {
    const TableRequest request = table(10000.0 + round);
    const double seconds =
        Seconds([&] { ExitOnError(client.Slice(request, {.rows = Range{0, 1}}).status()); });
    if (round > 0) milliseconds.push_back(seconds * 1e3);
  }
  PrintFigure(key, what, milliseconds, MedianMilliseconds(milliseconds));
}

void ColdFirstRowOfRope() {
  ColdFirstRow("cold_first_row_ms", "first row of a cold rotary table of 4 GiB over gRPC, 8388608 x 128",
               [](double base) { return Rope{.head_dim = 128, .max_len = 8388608, .base = base}; });
}
void ColdFirstRowOfSinusoidal() {
  ColdFirstRow("cold_first_row_sinusoidal_ms", "the same of a sinusoidal table of 262144 x 4096",
               [](double base) { return Sinusoidal{.d_model = 4096, .max_len = 262144, .base = base}; });
}

// One reader that stops for the others every 64 chunks.
absl::Status ReadSlowly(const std::string& target, std::barrier<>& stop) {
  Client client(MakeConnection(target));
  int64_t chunks = 0;
  const auto on_chunk = [&](const Chunk&) {
    if (++chunks % 64 == 0) stop.arrive_and_wait();
    return absl::OkStatus();
  };
  absl::Status status = client.Stream(kGibibyte, {}, on_chunk, {.timeout = absl::Minutes(4)});
  stop.arrive_and_drop();
  return status;
}

void ServerMemory() {
  constexpr int kReaders = 8;
  constexpr int64_t kBudgetMiB = 128;
  const PosencServer server =
      ValueOrExit(StartPosencServer({"--cache-bytes", absl::StrCat(kBudgetMiB, "MiB")}));
  const int64_t before = server.process->StatusBytes("VmRSS:") / kMiB;
  std::barrier<> stop(kReaders);
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] { ExitOnError(ReadSlowly(server.target, stop)); });
  }
  for (std::thread& reader : readers) reader.join();
  const int64_t peak = server.process->StatusBytes("VmHWM:") / kMiB;
  PrintFigure("server_rss_over_budget",
              absl::StrCat("peak memory under 8 slow readers of a table of 1 GiB, less the budget of ",
                           kBudgetMiB, " MiB; idle it was ", before, " MiB"),
              {static_cast<double>(peak - kBudgetMiB)}, absl::StrCat(peak, " MiB"),
              absl::StrCat(kBudgetMiB, " MiB"));
}

}  // namespace
}  // namespace posenc::bench

// With an argument, only the figure of that key, or of the program part that prints it.
int main(int argc, char** argv) {
  using namespace posenc::bench;  // NOLINT
  const std::vector<std::pair<std::string, void (*)()>> figures = {
      {"attach_1gib_ms", Attach},
      {"attach_1gib_new_client_ms", Attach},
      {"cold_first_row_ms", ColdFirstRowOfRope},
      {"cold_first_row_sinusoidal_ms", ColdFirstRowOfSinusoidal},
      {"server_rss_over_budget", ServerMemory},
  };
  void (*last)() = nullptr;
  for (const auto& [key, measure] : figures) {
    if (measure == last || (argc > 1 && key != argv[1])) continue;
    measure();
    last = measure;
  }
  return 0;
}

// Time to generate a table that nobody has asked for, over the server's CPUs.

#include <iostream>

#include "posenc/client.h"
#include "tests/bench/growth/growth.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr int kServers = 5;
constexpr int kTablesInUsedMemory = 3;
constexpr size_t kTableBytes = size_t{512} << 20;
const Rope kColdTable{.head_dim = 128, .max_len = 1 << 20};

struct Times {
  std::vector<double> new_memory, used_memory;
};

double WarmSeconds(Client& client, Rope& table) {
  table.base += 1;  // makes another table of it
  return Seconds([&] { ExitOnError(client.Warm({.specs = {TableRequest(table).spec()}, .unpinned = true})); });
}

// One server's first table, and some after it that take over its memory: the budget has room for one.
void MeasureServer(const std::string& cpus, Times& times) {
  const PosencServer server = ValueOrExit(StartPosencServer({"--cache-bytes", "576MiB"}, cpus));
  Client client(MakeConnection(server.target, {.shared_memory = false}));
  Rope table = kColdTable;
  ExitOnError(client.Describe(table).status());  // connects
  times.new_memory.push_back(WarmSeconds(client, table));
  for (int i = 0; i < kTablesInUsedMemory; ++i) times.used_memory.push_back(WarmSeconds(client, table));
}

std::vector<std::string> Cells(const std::string& cpus, const Times& times) {
  const double used = Summarize(times.used_memory).median, fresh = Summarize(times.new_memory).median;
  return {cpus, TimeText(used), RateText(kTableBytes, used), TimeText(fresh), RateText(kTableBytes, fresh)};
}

}  // namespace

void PrintColdTables() {
  Times one, two;
  for (int i = 0; i < kServers; ++i) {
    MeasureServer("0", one);
    MeasureServer("0,1", two);
  }
  std::cout << "### Cold tables over the server's CPUs\n\nTime to warm a rotary table of 512 MiB, head_dim 128 in "
               "F32: in memory that the server has from tables before, and in a new server's. Medians.\n\n";
  PrintTable({"CPUs", "used memory", "", "new memory", ""}, {Cells("1", one), Cells("2", two)});
}

}  // namespace posenc::bench

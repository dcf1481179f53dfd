// What an answer of the near cache costs, by the number of threads that ask for the same one or for others.
//
//   near_cache_bench --benchmark_repetitions=5

#include <benchmark/benchmark.h>

#include "posenc/client.h"
#include "posenc/near_cache.h"

namespace posenc {
namespace {

Rope Model() { return {.head_dim = 128, .max_len = 4096, .base = 500000, .scaling = Llama3Scaling()}; }

Client& CachedClient() {
  static Client client(MakeCachingConnection(MakeLocalConnection()));
  return client;
}

// The request is kept, as a decoder keeps it.
void RepeatedSlice(benchmark::State& state) {
  Client client = CachedClient();
  const TableRequest model = Model();
  const Selection rows{.rows = Range{0, 16}};
  for (auto _ : state) benchmark::DoNotOptimize(client.Slice(model, rows));
}
BENCHMARK(RepeatedSlice)->ThreadRange(1, 4)->UseRealTime();

// The request is written down anew for every call.
void RepeatedSliceWrittenAnew(benchmark::State& state) {
  Client client = CachedClient();
  for (auto _ : state) benchmark::DoNotOptimize(client.Slice(Model(), {.rows = Range{0, 16}}));
}
BENCHMARK(RepeatedSliceWrittenAnew);

void RepeatedGather(benchmark::State& state) {
  Client client = CachedClient();
  const TableRequest model = Model();
  std::vector<int64_t> positions(state.range(0));
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i * 7 % 4096);
  for (auto _ : state) benchmark::DoNotOptimize(client.Gather(model, positions));
}
BENCHMARK(RepeatedGather)->Arg(1)->Arg(32);

// Each thread has an answer of its own, so that not even the reference count is shared.
void OwnSlice(benchmark::State& state) {
  Client client = CachedClient();
  const TableRequest model = Model();
  const Selection rows{.rows = Range{state.thread_index() + 100, state.thread_index() + 116}};
  for (auto _ : state) benchmark::DoNotOptimize(client.Slice(model, rows));
}
BENCHMARK(OwnSlice)->ThreadRange(1, 4)->UseRealTime();

// A decoder's next row, out of the whole table.
void NextRowOfWholeTable(benchmark::State& state) {
  Client client = CachedClient();
  const TableRequest model = Rope{.head_dim = 128, .max_len = 4096};
  benchmark::DoNotOptimize(client.Get(model));
  Selection rows{.rows = Range{0, 1}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(client.Slice(model, rows));
    rows.rows->begin = (rows.rows->begin + 1) % 4096;
    rows.rows->end = rows.rows->begin + 1;
  }
}
BENCHMARK(NextRowOfWholeTable)->ThreadRange(1, 4)->UseRealTime();

}  // namespace
}  // namespace posenc

BENCHMARK_MAIN();

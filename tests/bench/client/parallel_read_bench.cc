// Reads a warm table of 256 MiB from a server into the caller's memory over 1, 2 and 4 connections.
//
//   posenc-server --listen 127.0.0.1:50051 --cache-bytes 1GiB &
//   POSENC_SERVER=127.0.0.1:50051 parallel_read_bench --benchmark_repetitions=5

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "posenc/client.h"

namespace posenc {
namespace {

void ReadInto(benchmark::State& state) {
  const char* const server = std::getenv("POSENC_SERVER");
  Client client(MakeConnection(server == nullptr ? "localhost:50051" : server,
                               {.parallel_streams = static_cast<int>(state.range(0))}));
  const Sinusoidal table{.d_model = 1024, .max_len = 65536};
  static std::vector<float> memory(size_t{1024} * 65536);
  for (auto _ : state) {
    const absl::Status status = client.ReadInto(table, {}, {std::as_writable_bytes(std::span(memory))});
    if (!status.ok()) return state.SkipWithError(std::string(status.message()).c_str());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * memory.size() * sizeof(float)));
}
BENCHMARK(ReadInto)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->MinTime(1.0);

}  // namespace
}  // namespace posenc

BENCHMARK_MAIN();

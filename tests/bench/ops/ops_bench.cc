// How fast does a model apply a table, next to a plain loop over the same numbers?
//
//   ops_bench --benchmark_filter=Rotate
//
// One thread; bytes a second count what is read and written of x, not the table. The plain loops
// are what one writes by hand, compiled with this project's options. The prompt does not fit the
// caches, the decode step does. POSENC_KERNEL_TARGET chooses the instruction set.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "posenc/ops.h"
#include "server/encodings/table_generator.h"

namespace posenc {
namespace {

constexpr int64_t kHeads = 32, kHeadDim = 128, kModel = 4096, kRows = 8192;

// Converts to T; rounds to nearest even.
template <typename T>
T FromFloat(float value);
template <>
float FromFloat<float>(float value) {
  return value;
}
template <>
BFloat16 FromFloat<BFloat16>(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

const std::vector<float>& Table() {
  static const auto& table = *new std::vector<float>(kRows * kModel, 0.001f);
  return table;
}

template <typename T>
void PlainRotate(T* x, const float* cos, const float* sin, int64_t tokens, bool half) {
  constexpr int64_t kPairs = kHeadDim / 2;
  for (int64_t vector = 0; vector < tokens * kHeads; ++vector, x += kHeadDim) {
    const int64_t row = vector / kHeads * kPairs;
    for (int64_t i = 0; i < kPairs; ++i) {
      T& first = x[half ? i : 2 * i];
      T& second = x[half ? i + kPairs : 2 * i + 1];
      const auto a = static_cast<float>(first), b = static_cast<float>(second);
      first = FromFloat<T>(a * cos[row + i] - b * sin[row + i]);
      second = FromFloat<T>(b * cos[row + i] + a * sin[row + i]);
    }
  }
}

template <typename T>
void Measure(benchmark::State& state, int64_t elements, auto run) {
  std::vector<T> x(elements);
  for (auto _ : state) {
    run(x);
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * elements * int64_t{2 * sizeof(T)});
}

template <typename T>
void RotateOp(benchmark::State& state, int64_t tokens, Pairing pairing) {
  const std::span<const float> table(Table().data(), kRows * kHeadDim / 2);
  Measure<T>(state, tokens * kHeads * kHeadDim, [&](std::vector<T>& x) {
    const RotateParams params = {
        .seq_len = tokens, .heads = kHeads, .head_dim = kHeadDim, .pairing = pairing};
    if (!Rotate(x, table, table, params).ok()) state.SkipWithError("refused");
  });
}

template <typename T>
void RotatePlain(benchmark::State& state, int64_t tokens, Pairing pairing) {
  Measure<T>(state, tokens * kHeads * kHeadDim, [&](std::vector<T>& x) {
    PlainRotate<T>(x.data(), Table().data(), Table().data(), tokens,
                   pairing == Pairing::kHalfSplit);
  });
}

template <typename T>
void AddOp(benchmark::State& state, int64_t tokens) {
  Measure<T>(state, tokens * kModel, [&](std::vector<T>& x) {
    if (!AddEncoding(x, Table(), {.seq_len = tokens, .d_model = kModel}).ok())
      state.SkipWithError("refused");
  });
}

template <typename T>
void AddPlain(benchmark::State& state, int64_t tokens) {
  Measure<T>(state, tokens * kModel, [&](std::vector<T>& x) {
    const float* const table = Table().data();
    for (size_t i = 0; i < x.size(); ++i) x[i] = FromFloat<T>(static_cast<float>(x[i]) + table[i]);
  });
}

template <typename T>
void AlibiOp(benchmark::State& state, int64_t length) {
  const std::vector<float> slopes(kHeads, 0.25f);
  Measure<T>(state, kHeads * length, [&](std::vector<T>& x) {
    const ScoreParams params = {
        .heads = kHeads, .q_len = 1, .kv_len = length, .score_scale = 0.125};
    if (!AddAlibi(x, slopes, params).ok()) state.SkipWithError("refused");
  });
}

void Copy(benchmark::State& state) {
  const int64_t bytes = state.range(0);
  std::vector<char> from(bytes), to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes * 2);
}
BENCHMARK(Copy)->Arg(kModel * 4)->Arg(kModel * 4 * 4096);

template <typename T>
void Register(const std::string& type) {
  for (int64_t tokens : {1, 4096}) {
    const std::string size = "/" + type + "/tokens:" + std::to_string(tokens);
    const auto add = [&](const std::string& name, auto run) {
      benchmark::RegisterBenchmark((name + size).c_str(), [=](auto& state) { run(state, tokens); });
    };
    add("Add", AddOp<T>);
    add("AddPlain", AddPlain<T>);
    add("Alibi", AlibiOp<T>);
    for (Pairing pairing : {Pairing::kHalfSplit, Pairing::kInterleaved}) {
      const std::string name = pairing == Pairing::kHalfSplit ? "HalfSplit" : "Interleaved";
      add("Rotate" + name, [=](auto& state, int64_t count) { RotateOp<T>(state, count, pairing); });
      add("RotatePlain" + name,
          [=](auto& state, int64_t count) { RotatePlain<T>(state, count, pairing); });
    }
  }
}

}  // namespace
}  // namespace posenc

int main(int argc, char** argv) {
  posenc::Register<float>("F32");
  posenc::Register<posenc::BFloat16>("BF16");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("kernel target", posenc::KernelTarget());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// How near does generating a table come to the speed of memory?
//
//   kernels_bench --benchmark_filter=RotarySplitHalf
//
// Every benchmark writes whole tables (or blocks of the server's size) into memory that has been touched
// before, on one thread, and reports bytes a second. `Memset` writes the same memory, and is what
// the others are to be compared with. POSENC_KERNEL_TARGET chooses the instruction set.

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/core/limits.h"
#include "server/core/names.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/table_generator.h"

namespace posenc {
namespace {

constexpr int64_t kRows = 131072;
constexpr int64_t kBlockBytes = limits::kDefaultBlockBytes;

// One buffer a size, 64-byte aligned and touched.
std::byte* Buffer(int64_t bytes) {
  static auto& buffers = *new std::map<int64_t, std::byte*>();
  std::byte*& buffer = buffers[bytes];
  if (buffer == nullptr) {
    buffer = static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
    std::memset(buffer, 1, bytes);
  }
  return buffer;
}

std::shared_ptr<const TableGenerator> Make(const FamilySpec& family, ElementType type,
                                           Arithmetic arithmetic = Arithmetic::kExact) {
  TableSpec spec{.family = family, .element_type = type};
  spec.arithmetic = arithmetic;
  return *MakeTableGenerator(*Normalize(spec));
}

// Generates `rows` rows from row `first`, all tensors behind each other.
void GenerateInto(const TableGenerator& table, int64_t first, int64_t rows, std::byte* to) {
  std::vector<std::byte*> out;
  for (const TensorShape& tensor : table.shape().tensors) {
    out.push_back(to);
    to += rows * tensor.row_bytes();
  }
  table.Generate(first, rows, out);
}

// Whole table at once.
void Whole(benchmark::State& state, const FamilySpec& family, ElementType type, int64_t rows) {
  const auto table = Make(family, type);
  const int64_t bytes = rows * table->shape().row_bytes();
  std::byte* const buffer = Buffer(bytes);
  for (auto _ : state) {
    GenerateInto(*table, 0, rows, buffer);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

// Blocks, each into the same memory, as the server's cache asks for them.
void Blocks(benchmark::State& state, const FamilySpec& family, ElementType type,
            Arithmetic arithmetic = Arithmetic::kExact) {
  const auto table = Make(family, type, arithmetic);
  int64_t rows = 1;
  while (2 * rows * table->shape().row_bytes() <= kBlockBytes) rows *= 2;
  const int64_t bytes = rows * table->shape().row_bytes();
  std::byte* const buffer = Buffer(kBlockBytes);
  int64_t first = 0;
  for (auto _ : state) {
    GenerateInto(*table, first, rows, buffer);
    benchmark::ClobberMemory();
    first = (first + rows) % (table->shape().rows() - rows);
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

void Memset(benchmark::State& state) {
  const int64_t bytes = state.range(0);
  std::byte* const buffer = Buffer(bytes);
  int value = 0;
  for (auto _ : state) {
    std::memset(buffer, ++value, bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK(Memset)->Arg(kBlockBytes)->Arg(kRows * 512)->Arg(kRows * 1024);

// From the spec to the first rows of a table of 10^9 rows, near and far.
void ColdStart(benchmark::State& state) {
  std::byte* const buffer = Buffer(1 << 20);
  for (auto _ : state) {
    const auto table =
        Make(SinusoidalSpec{.d_model = 8192, .max_len = 1'000'000'000}, ElementType::kF32);
    GenerateInto(*table, state.range(0), 32, buffer);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(ColdStart)->Arg(0)->Arg(999'999'000)->Unit(benchmark::kMicrosecond);

void OnePosition(benchmark::State& state) {
  const auto table = Make(RopeSpec{.head_dim = 128, .max_len = kRows}, ElementType::kF32);
  std::byte* const buffer = Buffer(1 << 20);
  std::vector<std::byte*> out = {buffer, buffer + 4096};
  int64_t position = 0;
  for (auto _ : state) {
    table->GenerateAt(std::vector<double>{static_cast<double>(position)}, out);
    position = (position + 7919) % kRows;
  }
}
BENCHMARK(OnePosition);

// ALiBi's forms of a bias for each query and key, as attention kernels of 32 heads take them.
void RegisterAlibi(ElementType type) {
  const auto add = [=](const std::string& form, const AlibiSpec& spec) {
    const std::string name = "AlibiBlocks/" + form + "/" + std::string(ElementTypeName(type));
    benchmark::RegisterBenchmark(name.c_str(), [=](auto& state) { Blocks(state, spec, type); })
        ->Unit(benchmark::kMillisecond);
  };
  AlibiSpec spec{.heads = 32, .max_len = 4096};
  add("causal", spec);
  spec.masked = true;
  add("causal-masked", spec);
  add("symmetric", {.heads = 32, .max_len = 4096, .form = AlibiForm::kSymmetric});
}

void RegisterAll() {
  const auto add = [](const std::string& name, auto run) {
    benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
  };
  for (ElementType type :
       {ElementType::kF32, ElementType::kF64, ElementType::kF16, ElementType::kBF16}) {
    const std::string suffix = "/" + std::string(ElementTypeName(type));
    for (int value = 1; value <= static_cast<int>(RopeLayout::kAnglesRepeated); ++value) {
      const auto layout = static_cast<RopeLayout>(value);
      if (layout == RopeLayout::kComplex && ElementSizeBytes(type) == 2) continue;
      const RopeSpec rope{.head_dim = 128, .max_len = kRows, .layout = layout};
      const std::string name = std::string(NameOf(layout)) + suffix;
      add("Rotary/" + name, [=](auto& state) { Whole(state, rope, type, kRows); });
      add("RotaryBlocks/" + name, [=](auto& state) { Blocks(state, rope, type); });
      add("RotaryFloat32Blocks/" + name,
          [=](auto& state) { Blocks(state, rope, type, Arithmetic::kFloat32); });
    }
    for (int64_t width : {512, 8192}) {
      for (SinusoidalOrder order : {SinusoidalOrder::kInterleaved, SinusoidalOrder::kSinCos}) {
        const SinusoidalSpec spec{.d_model = width, .max_len = kRows, .order = order};
        const std::string name = std::to_string(width) + "/" + std::string(NameOf(order)) + suffix;
        add("Sinusoidal/" + name,
            [=](auto& state) { Whole(state, spec, type, kRows * 128 / width); });
        add("SinusoidalBlocks/" + name, [=](auto& state) { Blocks(state, spec, type); });
      }
    }
    RegisterAlibi(type);
    for (int64_t length : {2048, 65536}) {
      const AlibiSpec alibi{.heads = 12, .max_len = length};
      add("AlibiBlocks/" + std::to_string(length) + suffix,
          [=](auto& state) { Blocks(state, alibi, type); });
    }
  }
}

}  // namespace
}  // namespace posenc

int main(int argc, char** argv) {
  posenc::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("kernel target", posenc::KernelTarget());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

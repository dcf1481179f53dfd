// The tutorial's complete example: random embeddings of 2 sequences of 10 tokens get their positions from a
// posenc service.
//
//   posenc-tutorial localhost:50051

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "posenc/client.h"
#include "posenc/ops.h"

namespace {

constexpr int64_t kModelWidth = 512;
constexpr int64_t kMaxLen = 5000;
constexpr int64_t kBatch = 2;
constexpr int64_t kSeqLen = 10;

// Independent normal numbers, as torch.randn gives them, though not the same ones.
std::vector<float> RandomEmbeddings() {
  std::mt19937 random(0);
  std::normal_distribution<float> normal;
  std::vector<float> x(kBatch * kSeqLen * kModelWidth);
  std::ranges::generate(x, [&] { return normal(random); });
  return x;
}

// Whether the output is the input plus the table's first rows, in both sequences.
bool IsSum(const std::vector<float>& output, const std::vector<float>& input, std::span<const float> table) {
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] != input[i] + table[i % (kSeqLen * kModelWidth)]) return false;
  }
  return true;
}

void PrintShape(const char* title, int64_t a, int64_t b, int64_t c) {
  std::printf("%s[%lld, %lld, %lld]\n", title, static_cast<long long>(a), static_cast<long long>(b),
              static_cast<long long>(c));
}

absl::Status Run(const char* server) {
  posenc::Client client(posenc::MakeConnection(server));
  const absl::StatusOr<posenc::Table> table =
      client.Get(posenc::Sinusoidal{.d_model = kModelWidth, .max_len = kMaxLen});
  if (!table.ok()) return table.status();
  const std::span<const float> encoding = table->tensor<float>("table");

  const std::vector<float> input = RandomEmbeddings();
  std::vector<float> output(input.size());
  const absl::Status added = posenc::AddEncoding(
      input, encoding, {.batch = kBatch, .seq_len = kSeqLen, .d_model = kModelWidth}, output);
  if (!added.ok()) return added;

  const std::span<const int64_t> rows = table->shape("table");
  const auto [low, high] = std::ranges::minmax(encoding);
  PrintShape("input shape       ", kBatch, kSeqLen, kModelWidth);
  PrintShape("output shape      ", kBatch, kSeqLen, kModelWidth);
  PrintShape("table shape       ", 1, rows[0], rows[1]);
  std::printf("shapes are equal  %s\n", input.size() == output.size() ? "yes" : "no");
  std::printf("output is input + table's first %d rows  %s\n", static_cast<int>(kSeqLen),
              IsSum(output, input, encoding) ? "yes" : "no");
  std::printf("value range       [%.4f, %.4f]\n", static_cast<double>(low), static_cast<double>(high));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "localhost:50051");
  if (status.ok()) return 0;
  std::fprintf(stderr, "posenc-tutorial: %s\n", status.ToString().c_str());
  return 1;
}

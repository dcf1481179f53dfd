// posenc next to what a model does for itself: PyTorch on one thread, with the recipes of recipes.py. The
// value is PyTorch's time over ours.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "posenc/client.h"
#include "posenc/ops.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/table_generator.h"
#include "tests/bench/pytorch/pytorch.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/pages.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr int kRounds = 15;
// As in recipes.py.
constexpr int64_t kHeadDim = 128, kRows = 131072, kHeads = 32, kLength = 2048, kModel = 4096;

Rope Table(RopeLayout layout) {
  return {.head_dim = kHeadDim, .max_len = kRows, .base = 500000.0, .layout = layout};
}

// One figure: a recipe and what posenc does instead. Each returns seconds.
void Compare(const std::string& key, const std::string& what, Memory memory,
             const std::function<double(PyTorch&)>& theirs, const std::function<void()>& ours) {
  absl::StatusOr<PyTorch> pytorch = PyTorch::Start(memory);
  if (!pytorch.ok()) return PrintNotMeasured(key, std::string(pytorch.status().message()));
  const Timing timing = MeasureInterleaved(
      kRounds, [&] { return Seconds(ours); }, [&] { return theirs(*pytorch); });
  Print({.key = key,
         .what = absl::StrCat(what, "; PyTorch ", pytorch->version(), ", one thread, its time over ours"),
         .value = Summarize(AlternativeOverOurs(timing)),
         .ours = TimeText(Summarize(timing.ours).median),
         .alternative = TimeText(Summarize(timing.alternative).median)});
}

// Into memory that is mapped already, as the server generates.
void Generate(const std::string& key, RopeLayout layout, const std::string& recipe, Memory memory) {
  const TableSpec spec = ValueOrExit(Normalize({.family = Table(layout)}));
  const auto generator = ValueOrExit(MakeTableGenerator(spec));
  std::vector<std::unique_ptr<Pages>> pages;
  std::vector<std::byte*> out;
  for (const TensorShape& tensor : generator->shape().tensors) {
    pages.push_back(std::make_unique<Pages>(static_cast<size_t>(kRows * tensor.row_bytes())));
    out.push_back(pages.back()->data());
  }
  const bool kept = memory == Memory::kKept;
  Compare(key, absl::StrCat("generate rope 131072x128 F32, one thread, into mapped memory",
                            kept ? " on both sides" : "; Hugging Face's recipe as it comes, its tensors new"),
          memory,
          [&](PyTorch& pytorch) { return pytorch.Run(recipe); },
          [&] {
            // Frequencies too, as the recipe computes them.
            ValueOrExit(MakeTableGenerator(spec))->Generate(0, kRows, out);
          });
}

void GenerateIntoNewMemory() {
  const TableSpec spec = ValueOrExit(Normalize({.family = Table(RopeLayout::kSplitHalf)}));
  Client client(MakeLocalConnection());
  Compare("generate_new_memory_vs_pytorch", "the same into new memory on both sides", Memory::kReturned,
          [](PyTorch& pytorch) { return pytorch.Run("build_half"); },
          [&] { ExitOnError(client.Get(spec).status()); });
}

void Fetch(const std::string& key, RopeLayout layout, const std::string& recipe) {
  const PosencServer server = ValueOrExit(StartPosencServer({"--cache-bytes", "512MiB"}));
  Client client(MakeConnection(server.target, {.shared_memory = false}));
  Compare(key, "receive rope 131072x128 F32, warm, over loopback gRPC into new memory", Memory::kReturned,
          [&](PyTorch& pytorch) { return pytorch.Run(recipe); },
          [&] { ExitOnError(client.Get(Table(layout)).status()); });
}

// The numbers that the operations work on, and the operations.
class Operations {
 public:
  Operations() : table_(ValueOrExit(Client(MakeLocalConnection()).Get(Table(RopeLayout::kSplitHalf)))) {}

  void Rotate() {
    const RotateParams params = {
        .seq_len = kLength, .heads = kHeads, .head_dim = kHeadDim, .heads_first = true};
    ExitOnError(posenc::Rotate(query_, table_, params));
    ExitOnError(posenc::Rotate(key_, table_, params));
  }
  void Add() { ExitOnError(AddEncoding(embeddings_, encodings_, {.seq_len = kLength, .d_model = kModel})); }

 private:
  const posenc::Table table_;
  std::vector<float> query_ = std::vector<float>(kHeads * kLength * kHeadDim, 0.5f);
  std::vector<float> key_ = query_;
  std::vector<float> embeddings_ = std::vector<float>(kLength * kModel, 0.5f);
  const std::vector<float> encodings_ = std::vector<float>(2 * kLength * kModel, 0.001f);
};

void GenerateHalf() {
  Generate("generate_vs_pytorch", RopeLayout::kSplitHalf, "build_half", Memory::kReturned);
}
void GenerateDuplicated() {
  Generate("generate_duplicated_vs_pytorch", RopeLayout::kSplitDuplicated, "build_duplicated", Memory::kReturned);
}
void GenerateInKeptMemory() {
  Generate("generate_kept_memory_vs_pytorch", RopeLayout::kSplitHalf, "build_half", Memory::kKept);
}
void FetchHalf() { Fetch("fetch_vs_pytorch_build", RopeLayout::kSplitHalf, "build_half"); }
void FetchDuplicated() {
  Fetch("fetch_duplicated_vs_pytorch_build", RopeLayout::kSplitDuplicated, "build_duplicated");
}
void RotateAndAdd() {
  Operations ours;
  Compare("ops_vs_pytorch", "rotate q and k of 1x32x2048x128 and add encodings to 1x2048x4096, F32",
          Memory::kKept, [](PyTorch& pytorch) { return pytorch.Run("rotate") + pytorch.Run("add"); },
          [&] {
            ours.Rotate();
            ours.Add();
          });
}
void RotateOnly() {
  Operations ours;
  Compare("rotate_vs_pytorch", "rotate q and k of 1x32x2048x128, F32", Memory::kKept,
          [](PyTorch& pytorch) { return pytorch.Run("rotate"); }, [&] { ours.Rotate(); });
}
void AddOnly() {
  Operations ours;
  Compare("add_vs_pytorch", "add encodings to 1x2048x4096, F32", Memory::kKept,
          [](PyTorch& pytorch) { return pytorch.Run("add"); }, [&] { ours.Add(); });
}

}  // namespace
}  // namespace posenc::bench

// With an argument, only the ratio of that key.
int main(int argc, char** argv) {
  using namespace posenc::bench;  // NOLINT
  const std::vector<std::pair<std::string, void (*)()>> ratios = {
      {"generate_vs_pytorch", GenerateHalf},
      {"generate_duplicated_vs_pytorch", GenerateDuplicated},
      {"generate_kept_memory_vs_pytorch", GenerateInKeptMemory},
      {"generate_new_memory_vs_pytorch", GenerateIntoNewMemory},
      {"fetch_vs_pytorch_build", FetchHalf},
      {"fetch_duplicated_vs_pytorch_build", FetchDuplicated},
      {"ops_vs_pytorch", RotateAndAdd},
      {"rotate_vs_pytorch", RotateOnly},
      {"add_vs_pytorch", AddOnly},
  };
  for (const auto& [key, measure] : ratios) {
    if (argc < 2 || key == argv[1]) measure();
  }
  return 0;
}

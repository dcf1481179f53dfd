// One thread generates the rotary table 131072 × 128 (base 500000, cos and sin) into memory that is mapped
// already; the alternative is memset over the same bytes. The ratio is memset's time over ours.

#include <cstddef>
#include <cstring>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "server/core/names.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/table_generator.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/pages.h"

namespace posenc::bench {
namespace {

constexpr int kRounds = 15;
constexpr int64_t kRows = 131072;

struct Case {
  std::string key;
  RopeLayout layout = RopeLayout::kSplitHalf;
  ElementType element_type = ElementType::kF32;
};

int Measure(const Case& item) {
  const RopeSpec rope{.head_dim = 128, .max_len = kRows, .base = 500000.0, .scaling = {},
                      .layout = item.layout};
  const auto spec = Normalize({.family = rope, .element_type = item.element_type});
  if (!spec.ok()) return 1;
  const auto generator = MakeTableGenerator(*spec);
  if (!generator.ok()) return 1;

  std::vector<std::unique_ptr<Pages>> pages;
  std::vector<std::byte*> out;
  size_t total_bytes = 0;
  for (const TensorShape& tensor : (*generator)->shape().tensors) {
    pages.push_back(std::make_unique<Pages>(static_cast<size_t>(kRows * tensor.row_bytes())));
    out.push_back(pages.back()->data());
    total_bytes += pages.back()->bytes();
  }
  int fill = 0;
  const Timing timing = RunInterleaved(
      kRounds, [&] { (*generator)->Generate(0, kRows, out); },
      [&] {
        ++fill;
        for (const auto& page : pages) std::memset(page->data(), fill & 0xff, page->bytes());
      });

  Print({.key = item.key,
         .what = absl::StrFormat("generate rope 131072x128 %s %s, one thread (%s), over memset",
                                 ElementTypeName(item.element_type), NameOf(item.layout),
                                 KernelTarget()),
         .value = Summarize(AlternativeOverOurs(timing)),
         .ours = RateText(total_bytes, Summarize(timing.ours).median),
         .alternative = RateText(total_bytes, Summarize(timing.alternative).median)});
  return 0;
}

std::vector<Case> Cases() {
  std::vector<Case> cases = {{.key = "generate_vs_memset"}};
  for (ElementType type : {ElementType::kF64, ElementType::kF16, ElementType::kBF16}) {
    cases.push_back({.key = absl::StrFormat("generate_%s_vs_memset",
                                            absl::AsciiStrToLower(ElementTypeName(type))),
                     .element_type = type});
  }
  for (RopeLayout layout : {RopeLayout::kSplitDuplicated, RopeLayout::kSplitRepeated,
                            RopeLayout::kCosSin, RopeLayout::kPairs}) {
    std::string name(NameOf(layout));
    for (char& c : name) c = c == '-' ? '_' : c;
    cases.push_back({.key = absl::StrFormat("generate_%s_vs_memset", name), .layout = layout});
  }
  return cases;
}

}  // namespace
}  // namespace posenc::bench

// With an argument, only the case of that key.
int main(int argc, char** argv) {
  int failures = 0;
  bool found = false;
  for (const auto& item : posenc::bench::Cases()) {
    if (argc > 1 && item.key != argv[1]) continue;
    found = true;
    failures += posenc::bench::Measure(item);
  }
  if (!found) std::cerr << "no such key: " << argv[1] << "\n";
  return failures == 0 && found ? 0 : 1;
}

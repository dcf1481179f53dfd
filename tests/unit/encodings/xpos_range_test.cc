// The xPos tables where their scales leave the element types, and MPFR's usual exponents, against mpmath
// (data/make_xpos.py).

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/core/specs/normalize.h"
#include "server/encodings/table_generator.h"
#include "tests/support/matchers.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {
namespace {

using Json = nlohmann::json;

constexpr ElementType kTypes[] = {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16};
constexpr int64_t kMost = int64_t{1} << 53;

// The table's row at a position, as its last row: four tensors.
Buffers LastRow(RopeSpec spec, int64_t position, int64_t rows, ElementType type) {
  spec.first_position = std::max(position - rows + 1, -kMost);
  spec.max_len = position - spec.first_position + 1;
  const auto normalized = Normalize({.family = spec, .element_type = type});
  EXPECT_OK(normalized);
  const auto table = MakeTableGenerator(*normalized);
  EXPECT_OK(table);
  const Buffers all = GenerateRows(**table, 0, spec.max_len);
  Buffers last;
  for (const auto& tensor : all) {
    last.emplace_back(tensor.end() - static_cast<int64_t>(tensor.size()) / spec.max_len, tensor.end());
  }
  EXPECT_EQ(GeneratePositions(**table, {position}), last);
  return last;
}

TEST(XPosRangeTest, EveryCellIsTheTruthRoundedOnce) {
  std::ifstream file(POSENC_TEST_SOURCE_DIR "/unit/encodings/data/xpos.json");
  ASSERT_TRUE(file);
  int cells = 0;
  for (const Json& row : Json::parse(file)) {
    RopeSpec spec{.head_dim = row["head_dim"], .xpos = XPos{.scale_base = row["scale_base"], .centre = row["centre"]}};
    const int64_t position = row["position"];
    for (ElementType type : kTypes) {
      for (int64_t rows : {1, 20}) {
        const Buffers got = LastRow(spec, position, rows, type);
        for (size_t tensor = 0; tensor < 4; ++tensor) {
          const Json& right = row["tensors"][tensor][std::string(ElementTypeName(type))];
          for (size_t k = 0; k < right.size(); ++k, ++cells) {
            ASSERT_EQ(absl::StrCat(absl::Hex(ElementAt(got[tensor], type, static_cast<int64_t>(k)))),
                      right[k].get<std::string>())
                << ElementTypeName(type) << " position " << position << " tensor " << tensor << " pair " << k;
          }
        }
      }
    }
  }
  EXPECT_EQ(cells, 11'328);
}

}  // namespace
}  // namespace posenc

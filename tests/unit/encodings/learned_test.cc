#include "server/encodings/learned/learned.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/unit/encodings/bias_fixture.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LearnedTest : public testing::Test {
 protected:
  void Store(const std::string& name, std::vector<int64_t> shape, const std::vector<float>& values) {
    ASSERT_OK(catalog_.Add(name, StoredF32(std::move(shape), values)));
  }
  std::shared_ptr<const TableGenerator> Make(const LearnedSpec& spec,
                                             ElementType type = ElementType::kUnspecified) const {
    return TryMake(spec, type, catalog_).value();
  }
  TensorCatalog catalog_;
};

TEST_F(LearnedTest, RowsAreTheStoredOnes) {
  Store("t", {3, 2}, {1, -2.5f, 0.1f, -0.0f, 7, 8});
  const auto table = Make({.name = "t"});
  EXPECT_EQ(table->shape().tensors[0].element_type, ElementType::kF32);
  EXPECT_THAT(NumbersOf(*table, 1, 2), ElementsAre(0.1f, 0, 7, 8));
  EXPECT_EQ(BitsOf(*table, 1, 1)[1], 0x80000000u);  // -0 stays
  EXPECT_EQ(table->facts().error_bound, "exact, the stored numbers");
}

// OPT and BART: position p reads row p + 2; the rows before position 0 are positions -2 and -1.
TEST_F(LearnedTest, OffsetShiftsPositions) {
  Store("t", {514, 1}, std::vector<float>(514, 1));
  const auto table = Make({.name = "t", .position_offset = 2});
  EXPECT_EQ(table->shape().first_position, -2);
  EXPECT_EQ(table->shape().positions_begin, -2);
  EXPECT_EQ(table->shape().positions_end, 512);
  Store("u", {4, 1}, {10, 11, 12, 13});
  const auto small = Make({.name = "u", .position_offset = 2});
  const Buffers rows = GeneratePositions(*small, {0, 1, -1});
  EXPECT_EQ(ElementAt(rows[0], ElementType::kF32, 0), std::bit_cast<uint32_t>(12.0f));
  EXPECT_EQ(ElementAt(rows[0], ElementType::kF32, 1), std::bit_cast<uint32_t>(13.0f));
  EXPECT_EQ(ElementAt(rows[0], ElementType::kF32, 2), std::bit_cast<uint32_t>(11.0f));
}

TEST_F(LearnedTest, OtherTypesAndFactorsAreRoundedOnce) {
  std::mt19937 random(3);
  std::vector<float> values;
  for (int i = 0; i < 4000; ++i) values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (float& value : values) value = std::isfinite(value) && value != 0 ? value : 1;
  Store("t", {40, 100}, values);
  for (double scale : {1.0, 0.1, std::sqrt(1.0 / 768), 1024.0}) {
    for (ElementType type : kEveryRealType) {
      const std::vector<uint64_t> bits = BitsOf(*Make({.name = "t", .row_scale = scale}, type), 0, 40);
      Number x;
      for (size_t i = 0; i < values.size(); ++i) {
        mpfr_set_d(x.value, values[i], MPFR_RNDN);
        mpfr_mul_d(x.value, x.value, scale, MPFR_RNDN);
        ASSERT_EQ(bits[i], ReferenceRound(type, x.value)) << values[i] << " " << scale << ElementTypeName(type);
      }
    }
  }
}

TEST_F(LearnedTest, TiesGoToEvenAndSpecialsStay) {
  const float inf = std::numeric_limits<float>::infinity();
  // BF16 has 8 bits: 257 and 259 are ties, F16's largest number is 65504.
  Store("t", {1, 8}, {257, 259, inf, -inf, -0.0f, 65519, 65520, NAN});
  const std::vector<double> bf16 = NumbersOf(*Make({.name = "t"}, ElementType::kBF16), 0, 1);
  EXPECT_THAT(std::vector<double>(bf16.begin(), bf16.begin() + 4), ElementsAre(256, 260, INFINITY, -INFINITY));
  EXPECT_TRUE(std::signbit(bf16[4]));
  const std::vector<double> f16 = NumbersOf(*Make({.name = "t"}, ElementType::kF16), 0, 1);
  EXPECT_EQ(f16[5], 65504);
  EXPECT_EQ(f16[6], INFINITY);
  for (ElementType type : kEveryRealType) EXPECT_TRUE(std::isnan(NumbersOf(*Make({.name = "t"}, type), 0, 1)[7]));
}

// data/make_bicubic.py says how the numbers were made.
TEST_F(LearnedTest, ResizeIsCorrectlyRounded) {
  std::ifstream file(POSENC_TEST_SOURCE_DIR "/unit/encodings/data/bicubic.json");
  const auto grids = nlohmann::json::parse(file);
  ASSERT_EQ(grids.size(), 6u);
  int number = 0;
  for (const auto& grid : grids) {
    const std::string name = std::to_string(number++);
    std::vector<float> stored;
    for (const std::string text : grid["stored_f32"]) stored.push_back(std::strtof(text.c_str(), nullptr));
    const int64_t width = grid["width"], leading = grid["leading_rows"];
    Store(name, {static_cast<int64_t>(stored.size()) / width, width}, stored);
    const LearnedSpec spec{.name = name,
                           .resize = GridResize{.source_height = grid["source"][0], .source_width = grid["source"][1],
                                                .height = grid["grid"][0], .width = grid["grid"][1],
                                                .leading_rows = leading}};
    for (ElementType type : kEveryRealType) {
      const auto table = Make(spec, type);
      const std::vector<uint64_t> expected = grid["bits"][std::string(ElementTypeName(type))];
      const int64_t cells = table->shape().rows() - leading;
      EXPECT_EQ(BitsOf(*table, leading, cells), expected) << name << ElementTypeName(type);
    }
    const std::vector<double> kept = NumbersOf(*Make(spec), 0, leading);
    EXPECT_EQ(kept, std::vector<double>(stored.begin(), stored.begin() + leading * width));
  }
}

TEST_F(LearnedTest, TensorsThatDoNotFitAreRefused) {
  Store("t", {5, 1}, {1, 2, 3, 4, 5});
  Store("cube", {1, 1, 2}, {1, 2});
  LearnedSpec spec{.name = "t", .resize = GridResize{.source_height = 2, .source_width = 2, .height = 3, .width = 3}};
  EXPECT_THAT(TryMake(spec, ElementType::kF32, catalog_), ViolatesField("learned.resize"));
  spec.resize->leading_rows = 1;
  EXPECT_OK(TryMake(spec, ElementType::kF32, catalog_));
  EXPECT_THAT(TryMake(LearnedSpec{.name = "cube"}, ElementType::kF32, catalog_), ViolatesField("learned.name"));
  EXPECT_THAT(TryMake(LearnedSpec{.name = "u"}, ElementType::kF32, catalog_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cube, t")));
}

}  // namespace
}  // namespace posenc

// Random tables, rows and cells against MPFR: every cell must be the nearest element.
//
// POSENC_RANDOM_CELLS sets how many cells are compared (default 200 000; a full run is 10 000 000),
// POSENC_RANDOM_SEED the seed.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "server/core/table_key.h"
#include "tests/support/matchers.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : bits_(seed) {}
  int64_t Integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(bits_);
  }
  bool Once(int64_t in) { return Integer(1, in) == 1; }
  // Uniform in the exponent.
  double Scale(double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(bits_));
  }
  int64_t Magnitude(int64_t most) {
    return std::min(most, static_cast<int64_t>(Scale(1.0, static_cast<double>(most) + 1.0)));
  }
  template <typename T>
  T Of(std::vector<T> values) {
    return values[Integer(0, static_cast<int64_t>(values.size()) - 1)];
  }

 private:
  std::mt19937_64 bits_;
};

constexpr int64_t kMost = int64_t{1} << 53;

double RandomBase(Dice& dice) {
  return dice.Once(2) ? dice.Of<double>({10000, 500000, 1e6, 1000, 100, 1e7, 150000, 2, 1e30})
                      : dice.Scale(1.0, 1e12);
}

FamilySpec RandomSinusoidal(Dice& dice) {
  SinusoidalSpec spec{
      .d_model = 1 + dice.Magnitude(8191), .max_len = kMost, .base = RandomBase(dice)};
  spec.order = dice.Of<SinusoidalOrder>(
      {SinusoidalOrder::kInterleaved, SinusoidalOrder::kSinCos, SinusoidalOrder::kCosSin});
  spec.odd_width =
      spec.order == SinusoidalOrder::kSinCos ? OddWidth::kExtraSine : OddWidth::kZeroColumn;
  if (dice.Once(3) && spec.d_model > 5) spec.frequency_shift = dice.Of<double>({1.0, 0.5});
  if (spec.frequency_shift != 0) spec.odd_width = OddWidth::kZeroColumn;
  if (dice.Once(4)) spec.position_scale = dice.Scale(1e-3, 1e3);
  if (dice.Once(4)) spec.row_scale = dice.Scale(1e-3, 1e3);
  return spec;
}

std::vector<double> RandomList(Dice& dice, int64_t count, double low, double high) {
  std::vector<double> list;
  for (int64_t i = 0; i < count; ++i) list.push_back(dice.Scale(low, high));
  return list;
}

YarnScaling RandomYarn(Dice& dice) {
  YarnScaling yarn{.factor = dice.Scale(0.9, 200), .original_max_len = dice.Of<int64_t>({2048, 4096, 32768})};
  if (dice.Once(3)) yarn.truncate = false;
  if (dice.Once(3)) yarn.beta_fast = dice.Scale(1, 64);
  if (dice.Once(4)) yarn.extrapolation_factor = dice.Scale(0.01, 1);
  if (dice.Once(4)) yarn.log_mix = true;
  if (dice.Once(2)) yarn.mscale = dice.Scale(0.3, 2);
  if (dice.Once(2)) yarn.mscale_all_dim = dice.Scale(0.3, 2);
  return yarn;
}

// A scaling that puts more on frequencies than a factor; sometimes a length that it depends on.
void AddRandomScaling(Dice& dice, RopeSpec& spec) {
  const int64_t n = spec.head_dim / 2;
  const int64_t trained = dice.Of<int64_t>({2048, 4096, 32768});
  spec.effective_length = trained + dice.Of<int64_t>({-1, 0, 1, 5000, 200000});
  if (spec.base == 1) spec.base = 10000;
  switch (dice.Integer(0, 6)) {
    case 0:
      spec.scaling = LongRopeScaling{.factor = dice.Scale(0.9, 64),
                                     .original_max_len = trained,
                                     .short_factor = RandomList(dice, n, 1, 3),
                                     .long_factor = RandomList(dice, n, 1, 60)};
      return;
    case 1:
      spec.scaling = ProportionalScaling{dice.Scale(0.5, 8), dice.Of<double>({0, 0.25, 0.3, 0.5, 1})};
      return;
    case 2:
      spec.scaling = FrequencyDivisors{RandomList(dice, n, 0.5, 32)};
      return;
    case 3:
      spec.scaling = NtkScaling{.factor = dice.Scale(0.5, 64), .rule = NtkRule::kMixed, .mixed_b = dice.Scale(0.1, 2)};
      return;
    case 4:
      if (n > 1) spec.scaling = DynamicScaling{dice.Scale(1, 16), trained};
      return;
    default:
      spec.scaling = RandomYarn(dice);
      return;
  }
}

RopeAxes RandomAxes(Dice& dice, int64_t n) {
  const int64_t h = n / 3, w = n / 4;
  RopeAxes axes{.map = dice.Of<AxisMap>({AxisMap::kContiguous, AxisMap::kInterleaved, AxisMap::kAlternating,
                                         AxisMap::kSeparate}),
                .sections = {n - h - w, h, w}};
  if (axes.map == AxisMap::kSeparate && dice.Once(3)) axes.frequency_shift = 0.25;
  if (axes.map == AxisMap::kSeparate && dice.Once(3)) axes.full_turns = true;
  return axes;
}

FamilySpec RandomRope(Dice& dice) {
  RopeSpec spec{.head_dim = 2 * dice.Magnitude(512), .max_len = kMost, .base = RandomBase(dice)};
  spec.layout = static_cast<RopeLayout>(dice.Integer(1, 13));
  if (spec.layout == RopeLayout::kComplex) spec.layout = RopeLayout::kPairs;
  if (spec.head_dim >= 8 && dice.Once(4)) spec.axes = RandomAxes(dice, spec.head_dim / 2);
  const bool own = spec.axes && spec.axes->map == AxisMap::kSeparate;
  if (!own && dice.Once(2)) {
    AddRandomScaling(dice, spec);
    return spec;
  }
  switch (own ? 0 : dice.Integer(0, 4)) {
    case 0:
      spec.scaling = LinearScaling{dice.Scale(0.5, 64)};
      break;
    case 1:
      spec.scaling = Llama3Scaling{.factor = dice.Scale(1, 64)};
      break;
    case 2: {
      spec.scaling = ExplicitFrequencies{RandomList(dice, spec.head_dim / 2, 1e-8, 10)};
      break;
    }
    default:
      break;
  }
  return spec;
}

FamilySpec RandomAlibi(Dice& dice) {
  return AlibiSpec{
      .heads = dice.Magnitude(128),
      .max_len = dice.Magnitude(1 << 20),
      .bias_max = dice.Once(2) ? 8.0 : dice.Scale(0.1, 100),
      .slope_rule = dice.Of<AlibiSlopeRule>({AlibiSlopeRule::kPaper, AlibiSlopeRule::kGeometric}),
      .form = dice.Of<AlibiForm>({AlibiForm::kCausal, AlibiForm::kSymmetric})};
}

struct Counts {
  int64_t cells = 0;
  int64_t wrong = 0;
  std::string first;
};

// Compares up to `samples` cells of the rows given, chosen at random.
void Compare(const TableSpec& spec, const TableGenerator& table,
             const std::vector<std::vector<double>>& positions, const Buffers& buffers, int64_t samples,
             Dice& dice, Counts& counts) {
  Reference reference(spec);
  const bool bias = std::holds_alternative<AlibiSpec>(spec.family);
  for (int64_t i = 0; i < samples; ++i) {
    const auto t = static_cast<size_t>(dice.Integer(0, static_cast<int64_t>(buffers.size()) - 1));
    const int64_t width = RealElements(table.shape().tensors[t]);
    const int64_t row = dice.Integer(0, static_cast<int64_t>(positions.size()) - 1);
    const int64_t column = dice.Integer(0, width - 1);
    const uint64_t ours = ElementAt(buffers[t], spec.element_type, row * width + column);
    ++counts.cells;
    const uint64_t truth = bias ? reference.Cell(t, static_cast<int64_t>(positions[row][0]), column)
                                : reference.CellAt(t, positions[row], column);
    if (ours == truth) continue;
    if (counts.wrong++ == 0) {
      counts.first = absl::StrCat("position ", positions[row][0], " element ", column, " of\n",
                                  CanonicalText(spec));
    }
  }
}

// A position on both sides of 0, for each axis; a real one where the table has them.
std::vector<double> RandomPosition(Dice& dice, const TableShape& shape) {
  std::vector<double> position;
  for (int64_t axis = 0; axis < shape.position_axes; ++axis) {
    const double sign = dice.Of<double>({-1, 1});
    const bool real = shape.real_positions && dice.Once(2);
    position.push_back(sign * (real ? dice.Scale(1e-9, 1e12) : static_cast<double>(dice.Magnitude(kMost - 1))));
  }
  return position;
}

// One random table: some rows in a run, and as many single positions on both sides of 0.
void CompareOneTable(Dice& dice, Counts& counts) {
  const int64_t kind = dice.Integer(0, 9);
  TableSpec spec{.family = kind < 4   ? RandomSinusoidal(dice)
                           : kind < 9 ? RandomRope(dice)
                                      : RandomAlibi(dice)};
  spec.element_type = dice.Of<ElementType>({ElementType::kF32, ElementType::kF32, ElementType::kF16,
                                            ElementType::kBF16, ElementType::kF64});
  const auto normalized = Normalize(spec);
  ASSERT_OK(normalized);
  const auto table = *MakeTableGenerator(*normalized);
  const int64_t rows = std::min<int64_t>(dice.Integer(1, 40), table->shape().rows());
  const int64_t width = RealElements(table->shape().tensors[0]);
  const int64_t samples = std::min<int64_t>(400, rows * width);
  const int64_t first = std::min(dice.Magnitude(kMost) - 1, table->shape().rows() - rows);
  std::vector<std::vector<double>> run, single;
  for (int64_t r = 0; r < rows; ++r) run.push_back({static_cast<double>(first + r)});
  Compare(*normalized, *table, run, GenerateRows(*table, first, rows), samples, dice, counts);
  if (table->shape().row_kind != RowKind::kPositions) return;
  std::vector<double> all;
  for (int64_t r = 0; r < rows; ++r) {
    single.push_back(RandomPosition(dice, table->shape()));
    all.insert(all.end(), single.back().begin(), single.back().end());
  }
  Compare(*normalized, *table, single, GenerateReal(*table, all), samples, dice, counts);
}

TEST(RandomCellsTest, AreAllNearest) {
  Dice dice(FromEnvironment("POSENC_RANDOM_SEED", 20240607));
  const int64_t wanted = FromEnvironment("POSENC_RANDOM_CELLS", 200'000);
  Counts counts;
  while (counts.cells < wanted) CompareOneTable(dice, counts);
  EXPECT_EQ(counts.wrong, 0) << "of " << counts.cells << ", first: " << counts.first;
}

}  // namespace
}  // namespace posenc

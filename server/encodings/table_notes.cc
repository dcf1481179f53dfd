#include "server/encodings/table_notes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/core/length_remark.h"
#include "server/core/shortest_decimal.h"

namespace posenc {
namespace {

// The end of an element type: the least magnitude that rounds to infinity, and the largest number as text.
struct TypeEnd {
  long double infinite_from;
  const char* largest;
};

TypeEnd EndOf(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return {0x1.FFFFFFFFFFFFF8p1023L, "1.797e+308"};
    case ElementType::kF16:
      return {65520, "65504"};
    case ElementType::kBF16:
      return {0x1.FFp127L, "3.389e+38"};
    default:
      return {0x1.FFFFFFp127L, "3.403e+38"};
  }
}

// A distance where nothing is infinite.
constexpr long double kNever = std::numeric_limits<long double>::infinity();

// A note about values beyond the type's end.
class Overflow {
 public:
  explicit Overflow(const TableSpec& spec, const TableGenerator& table)
      : type_(spec.element_type), end_(EndOf(spec.element_type)), table_(table) {}

  std::string Of(const RopeSpec& spec) const {
    const TableFacts& facts = table_.facts();
    if (spec.xpos) return OfXPos(*spec.xpos);
    const auto& w = facts.inverse_frequencies;
    const double highest = w.empty() ? 0 : *std::max_element(w.begin(), w.end());
    switch (spec.layout) {
      case RopeLayout::kAngles:
      case RopeLayout::kAnglesDuplicated:
      case RopeLayout::kAnglesRepeated:
        if (spec.grid) return If(highest * Reach(*spec.grid) >= end_.infinite_from, "angles beyond are infinite");
        return FromPosition("angles are infinite", end_.infinite_from / highest);
      case RopeLayout::kFrequencies:
        return If(highest >= end_.infinite_from, "frequencies beyond are infinite");
      case RopeLayout::kPeriods:
        return If(std::any_of(w.begin(), w.end(), [&](double x) { return x != 0 && 1 / x >= end_.infinite_from; }),
                  "periods beyond are infinite");
      default:
        return OfMagnitude();
    }
  }
  std::string Of(const SinusoidalSpec&) const { return OfMagnitude(); }
  std::string Of(const GridSinusoidalSpec&) const { return ""; }

  std::string Of(const AlibiSpec& spec) const {
    const auto& slopes = table_.facts().slopes;
    const double steepest = *std::max_element(slopes.begin(), slopes.end());
    if (spec.form == AlibiForm::kSlopes) return If(steepest >= end_.infinite_from, "slopes beyond are infinite");
    return FromDistance(end_.infinite_from / steepest, spec.max_len);
  }

  // Finding the largest number would read the whole file, so that the note says what would become of one.
  std::string Of(const LearnedSpec&) const {
    const bool copied = table_.facts().error_bound.starts_with("exact");
    return If(!copied && type_ == ElementType::kF16, "stored numbers beyond are infinite");
  }
  std::string Of(const RelativeBucketSpec& spec) const {
    return If(!spec.weight.empty() && type_ == ElementType::kF16, "weights beyond are infinite");
  }
  std::string Of(const RelativeBiasSpec& spec) const {
    return std::visit([&](const auto& rule) { return OfRule(rule, spec); }, spec.rule);
  }

  // 1 + scale · ln(1 + step) grows with the step, (p + offset) / floor_len.
  std::string Of(const QueryTemperatureSpec& spec) const {
    if (spec.scale == 0) return "";
    const long double step = std::ceil(std::expm1((end_.infinite_from - 1) / spec.scale));
    return FromPosition("factors are infinite", step * spec.floor_len - spec.position_offset);
  }

 private:
  std::string If(bool overflows, absl::string_view what) const {
    if (!overflows) return "";
    return absl::StrCat(ElementTypeName(type_), " ends at ", end_.largest, ": ", what);
  }

  // From the first whole position at or behind `position`, or before its negative.
  std::string FromPosition(absl::string_view what, long double position) const {
    const TableShape& shape = table_.shape();
    const auto last = static_cast<long double>(std::max(shape.positions_end - 1, -shape.positions_begin));
    if (!(position <= last)) return "";
    return If(true, absl::StrCat(what, " from position ", static_cast<int64_t>(std::ceil(position)), " on"));
  }
  std::string FromDistance(long double distance, int64_t max_len) const {
    if (!(distance <= static_cast<long double>(max_len - 1))) return "";
    const auto first = static_cast<int64_t>(std::ceil(distance));
    return If(true, absl::StrCat("biases are infinite from distance ", first, " on"));
  }

  std::string OfMagnitude() const {
    const double magnitude = table_.facts().magnitude;
    return If(magnitude >= end_.infinite_from,
              absl::StrCat("cosines and sines times ", ShortestDecimal(magnitude), " are infinite beyond"));
  }

  // The greatest scale is that of pair 0, (7/2)^|z|: of keys behind the centre, of queries before it.
  std::string OfXPos(const XPos& xpos) const {
    const long double powers = (std::log2(end_.infinite_from) - std::log2(table_.facts().magnitude)) / std::log2(3.5L);
    const long double far = std::max(0.0L, powers * xpos.scale_base);
    const TableShape& shape = table_.shape();
    const bool keys = static_cast<long double>(shape.positions_end - 1) - xpos.centre >= far;
    const bool queries = xpos.centre - static_cast<long double>(shape.positions_begin) >= far;
    std::string what;
    if (keys) {
      const auto first = static_cast<int64_t>(std::ceil(xpos.centre + far));
      what = absl::StrCat("keys may be infinite from position ", first, " on");
    }
    if (queries) {
      const auto last = static_cast<int64_t>(std::floor(xpos.centre - far));
      absl::StrAppend(&what, keys ? ", queries" : "queries may be infinite", " up to position ", last);
    }
    return If(keys || queries, what);
  }

  // At least the greatest coordinate of any rule of GridCoordinates.
  static double Reach(const Grid& grid) {
    const auto largest = [](const auto& list) {
      double result = 0;
      for (const auto entry : list) result = std::max(result, std::fabs(static_cast<double>(entry)));
      return result;
    };
    const double cells = largest(grid.sizes) + largest(grid.starts) + largest(grid.stops) + largest(grid.references);
    return 2 * cells * std::max(1.0, largest(grid.scales)) / std::min(1.0, grid.interpolation_scale) + 7;
  }

  std::string OfRule(const ProximalBias&, const RelativeBiasSpec&) const { return ""; }
  // Every cosine is at least −1, and the first head has the largest factor, heads / 8.
  std::string OfRule(const SandwichBias& rule, const RelativeBiasSpec& spec) const {
    const double most = static_cast<double>(rule.head_dim) * static_cast<double>(spec.heads) / 8;
    return If(most >= end_.infinite_from, "biases beyond are infinite");
  }
  std::string OfRule(const KerpleBias& rule, const RelativeBiasSpec& spec) const {
    long double first = kNever;
    for (size_t head = 0; head < rule.r1.size(); ++head) {
      const long double ratio = end_.infinite_from / rule.r1[head], r2 = rule.r2[head];
      const bool power = rule.kind == KerpleKind::kPower;
      first = std::min(first, power ? std::pow(ratio, 1 / r2) : std::expm1(ratio) / r2);
    }
    return FromDistance(first, spec.max_len);
  }
  // x lies between 0 and 1, but for keys after the query.
  std::string OfRule(const FireBias& rule, const RelativeBiasSpec& spec) const {
    const size_t hidden = rule.input_weight.size();
    double x = 1;
    if (spec.form == BiasForm::kSymmetric) {
      const auto farthest = static_cast<double>(spec.max_len - 1);
      x = std::max(x, std::log1p(rule.c * farthest) / std::log1p(rule.c * rule.threshold));
    }
    double most = 0;
    for (int64_t head = 0; head < spec.heads; ++head) {
      double sum = std::fabs(rule.output_bias[head]);
      for (size_t j = 0; j < hidden; ++j) {
        sum += std::fabs(rule.output_weight[head * hidden + j]) *
               (std::fabs(rule.input_weight[j]) * x + std::fabs(rule.input_bias[j]));
      }
      most = std::max(most, sum);
    }
    return If(most >= end_.infinite_from, "biases beyond are infinite");
  }

  const ElementType type_;
  const TypeEnd end_;
  const TableGenerator& table_;
};

}  // namespace

std::vector<std::string> TableNotes(const TableSpec& normalized, const TableGenerator& table) {
  std::vector<std::string> notes = table.facts().notes;
  const auto add = [&](std::string note) {
    if (!note.empty()) notes.push_back(std::move(note));
  };
  const TableShape& shape = table.shape();
  const auto* rope = std::get_if<RopeSpec>(&normalized.family);
  if (rope && shape.row_kind == RowKind::kPositions) add(LengthRemark(*rope, shape.positions_end));
  add(std::visit([&](const auto& family) { return Overflow(normalized, table).Of(family); }, normalized.family));
  return notes;
}

}  // namespace posenc

#include "tests/unit/encodings/reference.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "absl/strings/str_cat.h"
#include "tests/unit/encodings/reference_rope.h"

namespace posenc {
namespace {

// Products may be ties, as 31777881 = 3177788100 · (10^7)^(-2/7) is in F32: rounded to fewer bits
// first, a product that is one also looks like one.
constexpr mpfr_prec_t kProductBits = 256;

uint64_t BitsOf(ElementType type, double exact) {
  switch (type) {
    case ElementType::kF64:
      return std::bit_cast<uint64_t>(exact);
    case ElementType::kF32:
      return std::bit_cast<uint32_t>(static_cast<float>(exact));
    case ElementType::kBF16:
      return std::bit_cast<uint32_t>(static_cast<float>(exact)) >> 16;
    default:
      break;
  }
  const uint64_t sign = std::signbit(exact) ? 0x8000 : 0;
  const double size = std::fabs(exact);
  if (std::isinf(size)) return sign | 0x7C00;
  if (size < 0x1p-14) return sign | static_cast<uint64_t>(size * 0x1p24);
  const int exponent = std::ilogb(size);
  const uint64_t field = static_cast<uint64_t>(exponent + 14) << 10;
  return sign | (field + static_cast<uint64_t>(std::ldexp(size, 10 - exponent)));
}

}  // namespace

uint64_t ReferenceRound(ElementType type, mpfr_srcptr value) {
  const int precision = type == ElementType::kF64   ? 53
                        : type == ElementType::kF32 ? 24
                        : type == ElementType::kF16 ? 11
                                                    : 8;
  const int most = type == ElementType::kF64 ? 1023 : type == ElementType::kF16 ? 15 : 127;
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t rounded;
  mpfr_init2(rounded, precision);
  int ternary = mpfr_set(rounded, value, MPFR_RNDN);
  mpfr_set_emin(3 - most - precision);
  mpfr_set_emax(most + 1);
  ternary = mpfr_check_range(rounded, ternary, MPFR_RNDN);
  mpfr_subnormalize(rounded, ternary, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  const double result = mpfr_get_d(rounded, MPFR_RNDN);
  mpfr_clear(rounded);
  return BitsOf(type, result);
}

Reference::Reference(const TableSpec& spec) : spec_(spec) {}

Reference::~Reference() {
  for (auto& [k, w] : frequencies_) {
    mpfr_clear(w);
    delete w;
  }
}

Reference::Meaning Reference::MeaningOf(const SinusoidalSpec& spec, size_t, int64_t index) const {
  const bool odd = spec.d_model % 2 != 0;
  if (odd && *spec.odd_width == OddWidth::kZeroColumn && index == spec.d_model - 1)
    return {What::kZero, 0};
  const bool cut = odd && *spec.odd_width != OddWidth::kZeroColumn;
  const int64_t half = spec.d_model / 2 + (cut ? 1 : 0);
  switch (spec.order) {
    case SinusoidalOrder::kInterleaved:
      return {index % 2 == 0 ? What::kSin : What::kCos, index / 2};
    case SinusoidalOrder::kSinCos:
      return {index < half ? What::kSin : What::kCos, index % half};
    default:
      return {index < half ? What::kCos : What::kSin, index % half};
  }
}

Reference::Meaning Reference::MeaningOf(const RopeSpec& spec, size_t tensor, int64_t index) const {
  const int64_t n = spec.rotary_dim / 2;
  const What split = tensor % 2 == 0 ? What::kCos : What::kSin;
  switch (spec.layout) {
    case RopeLayout::kSplitAxisDuplicated: {
      int64_t first = 0;
      for (int64_t section : spec.axes->sections) {
        if (index < 2 * (first + section)) return {split, first + (index - 2 * first) % section};
        first += section;
      }
      return {};
    }
    case RopeLayout::kSplitHalf:
    case RopeLayout::kSplitDuplicated:
      return {split, index % n};
    case RopeLayout::kSplitRepeated:
      return {split, index / 2};
    case RopeLayout::kCosSin:
      return {index < n ? What::kCos : What::kSin, index % n};
    case RopeLayout::kCosSinDuplicated:
      return {index < 2 * n ? What::kCos : What::kSin, index % n};
    case RopeLayout::kSinCos:
      return {index < n ? What::kSin : What::kCos, index % n};
    case RopeLayout::kSinCosRepeated:
      return {index < 2 * n ? What::kSin : What::kCos, index % (2 * n) / 2};
    case RopeLayout::kPairs:
    case RopeLayout::kPairsDuplicated:
    case RopeLayout::kComplex:
      return {index % 2 == 0 ? What::kCos : What::kSin, index / 2 % n};
    case RopeLayout::kAngles:
    case RopeLayout::kAnglesDuplicated:
      return {What::kAngle, index % n};
    case RopeLayout::kAnglesRepeated:
      return {What::kAngle, index / 2};
    case RopeLayout::kFrequencies:
      return {What::kFrequency, index};
    default:
      return {What::kPeriod, index};
  }
}

void Reference::Frequency(const SinusoidalSpec& spec, int64_t k, mpfr_ptr w) const {
  Number exponent, denominator;
  const bool odd = spec.d_model % 2 != 0;
  int64_t width = spec.d_model;
  if (odd && *spec.odd_width == OddWidth::kZeroColumn) width -= 1;
  if (odd && *spec.odd_width == OddWidth::kDropCosine) width += 1;
  mpfr_set_d(denominator.value, static_cast<double>(width) / 2, MPFR_RNDN);
  mpfr_sub_d(denominator.value, denominator.value, spec.frequency_shift, MPFR_RNDN);
  if (spec.clamp_denominator && mpfr_cmp_si(denominator.value, 1) < 0)
    mpfr_set_si(denominator.value, 1, MPFR_RNDN);
  mpfr_si_div(exponent.value, -k, denominator.value, MPFR_RNDN);
  mpfr_set_d(w, spec.base, MPFR_RNDN);
  mpfr_pow(w, w, exponent.value, MPFR_RNDN);
  if (!spec.inverse_frequencies.empty()) mpfr_set_d(w, spec.inverse_frequencies[k], MPFR_RNDN);
  mpfr_mul_d(w, w, spec.position_scale, MPFR_RNDN);
}

void Reference::Frequency(const RopeSpec& spec, int64_t k, mpfr_ptr w) const {
  ReferenceRopeFrequency(spec, k, w);
}

mpfr_srcptr Reference::CachedFrequency(int64_t k) {
  mpfr_ptr& w = frequencies_[k];
  if (w == nullptr) {
    w = new __mpfr_struct;
    mpfr_init2(w, Number::kBits);
    std::visit([&](const auto& family) { Frequency(family, k, w); }, spec_.family);
  }
  return w;
}

uint64_t Reference::Bias(const AlibiSpec& spec, int64_t row, int64_t index) const {
  Number value;
  const bool slopes = spec.form == AlibiForm::kSlopes;
  const int64_t head = slopes ? index : row / spec.max_len;
  const int64_t distance = row % spec.max_len - index;
  int64_t power = 1;
  while (2 * power <= spec.heads) power *= 2;
  Number exponent;
  mpfr_set_d(exponent.value, -spec.bias_max, MPFR_RNDN);
  if (spec.slope_rule == AlibiSlopeRule::kGeometric) {
    mpfr_mul_si(exponent.value, exponent.value, head + 1, MPFR_RNDN);
    mpfr_div_si(exponent.value, exponent.value, spec.heads, MPFR_RNDN);
  } else {
    const bool first = head < power;
    mpfr_mul_si(exponent.value, exponent.value, first ? 2 * (head + 1) : 2 * (head - power) + 1,
                MPFR_RNDN);
    mpfr_div_si(exponent.value, exponent.value, 2 * power, MPFR_RNDN);
  }
  mpfr_exp2(value.value, exponent.value, MPFR_RNDN);
  if (!slopes) {
    if (distance < 0 && spec.form == AlibiForm::kCausal) {
      return spec.masked ? BitsOf(spec_.element_type, -std::numeric_limits<double>::infinity()) : 0;
    }
    if (distance == 0) return 0;
    mpfr_mul_si(value.value, value.value, -std::abs(distance), MPFR_RNDN);
  }
  mpfr_prec_round(value.value, kProductBits, MPFR_RNDN);
  return ReferenceRound(spec_.element_type, value.value);
}

uint64_t Reference::Cell(size_t tensor, int64_t position, int64_t index) {
  if (const auto* alibi = std::get_if<AlibiSpec>(&spec_.family)) return Bias(*alibi, position, index);
  return CellAt(tensor, {static_cast<double>(position)}, index);
}

uint64_t Reference::CellAt(size_t tensor, const std::vector<double>& position, int64_t index) {
  if (const auto* spec = std::get_if<RopeSpec>(&spec_.family)) {
    const Meaning meaning = MeaningOf(*spec, tensor, index);
    Number coordinate, magnitude;
    mpfr_set_d(coordinate.value, ReferenceCoordinate(*spec, meaning.pair, position), MPFR_RNDN);
    ReferenceMagnitude(*spec, magnitude.value);
    if (spec->xpos) ReferenceXPosScale(*spec, meaning.pair, tensor >= 2, coordinate.value, magnitude.value);
    return Round(meaning, coordinate.value, magnitude.value, ReferenceUnit(*spec));
  }
  const auto& spec = std::get<SinusoidalSpec>(spec_.family);
  const double sign = spec.descending ? -1.0 : 1.0;
  if (spec.zero_row && position[0] == static_cast<double>(spec.first_position) +
                                         sign * static_cast<double>(*spec.zero_row)) {
    return 0;
  }
  Number coordinate, magnitude;
  mpfr_set_d(coordinate.value, position[0], MPFR_RNDN);
  mpfr_set_d(magnitude.value, spec.row_scale, MPFR_RNDN);
  const AngleUnit unit = spec.full_turns ? AngleUnit::kTurns : AngleUnit::kRadians;
  return Round(MeaningOf(spec, tensor, index), coordinate.value, magnitude.value, unit);
}

uint64_t Reference::Round(const Meaning& meaning, mpfr_srcptr coordinate, mpfr_srcptr magnitude,
                          AngleUnit unit) {
  if (meaning.what == What::kZero) return 0;
  Number value;
  mpfr_set(value.value, CachedFrequency(meaning.pair), MPFR_RNDN);
  const bool phasor = meaning.what == What::kSin || meaning.what == What::kCos;
  if (!phasor && unit != AngleUnit::kRadians) {
    Number pi;
    mpfr_const_pi(pi.value, MPFR_RNDN);
    mpfr_mul_si(pi.value, pi.value, unit == AngleUnit::kTurns ? 2 : 1, MPFR_RNDN);
    mpfr_mul(value.value, value.value, pi.value, MPFR_RNDN);
  }
  const bool constant = meaning.what == What::kFrequency || meaning.what == What::kPeriod;
  if (!constant) mpfr_mul(value.value, value.value, coordinate, MPFR_RNDN);
  if (meaning.what == What::kPeriod) mpfr_si_div(value.value, 1, value.value, MPFR_RNDN);
  if (meaning.what != What::kCos && mpfr_zero_p(value.value)) return 0;
  if (!phasor) {
    mpfr_prec_round(value.value, kProductBits, MPFR_RNDN);
    return ReferenceRound(spec_.element_type, value.value);
  }
  if (unit != AngleUnit::kRadians) {
    (meaning.what == What::kSin ? mpfr_sinu : mpfr_cosu)(value.value, value.value,
                                                         static_cast<unsigned long>(unit), MPFR_RNDN);
  } else {
    (meaning.what == What::kSin ? mpfr_sin : mpfr_cos)(value.value, value.value, MPFR_RNDN);
  }
  if (mpfr_zero_p(value.value)) return 0;
  mpfr_mul(value.value, value.value, magnitude, MPFR_RNDN);
  return ReferenceRound(spec_.element_type, value.value);
}

uint64_t ElementAt(const std::vector<std::byte>& data, ElementType type, int64_t index) {
  const size_t size = ElementSizeBytes(type);
  uint64_t bits = 0;
  std::memcpy(&bits, data.data() + index * size, size);
  return bits;
}

ElementType RealType(ElementType type) {
  if (type == ElementType::kComplex64) return ElementType::kF32;
  return type == ElementType::kComplex128 ? ElementType::kF64 : type;
}

int64_t RealElements(const TensorShape& tensor) {
  return tensor.row_bytes() / static_cast<int64_t>(ElementSizeBytes(RealType(tensor.element_type)));
}

namespace {

std::vector<std::byte*> Allocate(const TableGenerator& generator, int64_t rows, Buffers& buffers) {
  std::vector<std::byte*> out;
  for (const TensorShape& tensor : generator.shape().tensors) {
    buffers.emplace_back(rows * tensor.row_bytes(), std::byte{0xA5});
  }
  for (auto& buffer : buffers) out.push_back(buffer.data());
  return out;
}

}  // namespace

Buffers GenerateRows(const TableGenerator& generator, int64_t first_row, int64_t row_count) {
  Buffers buffers;
  const auto out = Allocate(generator, row_count, buffers);
  generator.Generate(first_row, row_count, std::span<std::byte* const>(out));
  return buffers;
}

Buffers GenerateReal(const TableGenerator& generator, const std::vector<double>& coordinates) {
  Buffers buffers;
  const auto rows = static_cast<int64_t>(coordinates.size()) / generator.shape().position_axes;
  const auto out = Allocate(generator, rows, buffers);
  generator.GenerateAt(coordinates, std::span<std::byte* const>(out));
  return buffers;
}

Buffers GeneratePositions(const TableGenerator& generator, const std::vector<int64_t>& positions) {
  std::vector<double> coordinates;
  for (int64_t position : positions) {
    coordinates.insert(coordinates.end(), generator.shape().position_axes, static_cast<double>(position));
    if (generator.shape().last_axis_still) coordinates.back() = 0;
  }
  return GenerateReal(generator, coordinates);
}

std::string FirstDifferenceAt(const TableSpec& spec, const TableGenerator& generator,
                              const std::vector<std::vector<double>>& positions, const Buffers& buffers) {
  Reference reference(spec);
  for (size_t t = 0; t < buffers.size(); ++t) {
    const TensorShape& tensor = generator.shape().tensors[t];
    const int64_t width = RealElements(tensor);
    for (size_t row = 0; row < positions.size(); ++row) {
      for (int64_t i = 0; i < width; ++i) {
        const uint64_t ours = ElementAt(buffers[t], RealType(tensor.element_type),
                                        static_cast<int64_t>(row) * width + i);
        const uint64_t truth = reference.CellAt(t, positions[row], i);
        if (ours == truth) continue;
        return absl::StrCat("tensor ", t, " row ", row, " element ", i, ": 0x", absl::Hex(ours),
                            " instead of 0x", absl::Hex(truth));
      }
    }
  }
  return "";
}

std::string FirstDifference(const TableSpec& spec, const TableGenerator& generator,
                            const std::vector<int64_t>& positions, const Buffers& buffers) {
  if (!std::holds_alternative<AlibiSpec>(spec.family)) {
    std::vector<std::vector<double>> all;
    for (int64_t position : positions) all.push_back({static_cast<double>(position)});
    return FirstDifferenceAt(spec, generator, all, buffers);
  }
  Reference reference(spec);
  for (size_t t = 0; t < buffers.size(); ++t) {
    const TensorShape& tensor = generator.shape().tensors[t];
    const int64_t width = RealElements(tensor);
    for (size_t row = 0; row < positions.size(); ++row) {
      for (int64_t i = 0; i < width; ++i) {
        const uint64_t ours = ElementAt(buffers[t], RealType(tensor.element_type),
                                        static_cast<int64_t>(row) * width + i);
        const uint64_t truth = reference.Cell(t, positions[row], i);
        if (ours == truth) continue;
        return absl::StrCat("tensor ", t, " position ", positions[row], " element ", i, ": 0x",
                            absl::Hex(ours), " instead of 0x", absl::Hex(truth));
      }
    }
  }
  return "";
}

}  // namespace posenc

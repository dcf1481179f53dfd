#include "client/cli/diff/element_diff.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "client/cli/output/number_text.h"

namespace posenc::cli {
namespace {

// Bits of the significand with the hidden one, and the exponent of the least normal number.
struct Precision {
  int bits = 24;
  int least_exponent = -126;
};

Precision PrecisionOf(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return {53, -1022};
    case ElementType::kF16:
      return {11, -14};
    case ElementType::kBF16:
      return {8, -126};
    case ElementType::kI32:
      return {32, 31};  // one unit everywhere
    default:
      return {24, -126};
  }
}

double UlpAt(double value, ElementType type) {
  const Precision precision = PrecisionOf(type);
  const int exponent = value == 0 ? precision.least_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, precision.least_exponent) - (precision.bits - 1));
}

// The element's place among the numbers of its type; both zeros have 0.
int64_t PlaceOf(ElementRef element) {
  uint64_t bits = 0;
  const size_t size = ElementSizeBytes(element.type);
  std::memcpy(&bits, element.data, size);  // little-endian
  const uint64_t sign = uint64_t{1} << (8 * size - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

uint64_t Distance(int64_t a, int64_t b) {
  return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
               : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
}

uint64_t BinOf(uint64_t ulps) {
  size_t bin = 0;
  while (ulps > kUlpBins[bin].to) ++bin;
  return bin;
}

}  // namespace

uint64_t UlpsBetween(ElementRef a, ElementRef b) {
  const double a_value = PartValue(a.type, a.data);
  const double b_value = PartValue(b.type, b.data);
  if (a_value == b_value || (std::isnan(a_value) && std::isnan(b_value))) return 0;
  if (!std::isfinite(a_value) || !std::isfinite(b_value)) return kUnmeasurable;
  if (a.type == b.type && a.type != ElementType::kI32) return Distance(PlaceOf(a), PlaceOf(b));
  const double larger = std::max(std::fabs(a_value), std::fabs(b_value));
  const double unit = std::max(UlpAt(larger, a.type), UlpAt(larger, b.type));
  return static_cast<uint64_t>(std::min(std::ceil(std::fabs(a_value - b_value) / unit), 0x1p63));
}

void DiffTally::Count(const CellDiff& place, ElementRef a, ElementRef b) {
  ++cells;
  const uint64_t ulps = UlpsBetween(a, b);
  ++bins[BinOf(ulps)];
  if (ulps == 0) return;
  const double a_value = PartValue(a.type, a.data);
  const double b_value = PartValue(b.type, b.data);
  if (ulps != kUnmeasurable) largest_difference = std::max(largest_difference, std::fabs(a_value - b_value));
  if (first && ulps <= worst->ulps) return;
  CellDiff cell = place;
  cell.ulps = ulps;
  cell.a = a_value;
  cell.b = b_value;
  cell.a_text = PartText(a.type, a.data);
  cell.b_text = PartText(b.type, b.data);
  if (!first) first = cell;
  worst = cell;
}

}  // namespace posenc::cli

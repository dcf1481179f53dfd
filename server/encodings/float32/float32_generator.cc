#include "server/encodings/float32/float32_generator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "server/encodings/float32/float32_elements.h"
#include "server/encodings/float32/rounded_math.h"
#include "server/encodings/kernels/cos_sin.h"

namespace posenc {
namespace {

constexpr char kBound[] =
    "float32 pipeline: every step is rounded to F32; cos and sin are the nearest floats to those of an angle "
    "that is itself off by some 2^-24 of its size for each step that led to it";

void Scale(std::span<float> values, float factor) {
  for (float& value : values) value *= factor;
}

// g_i = (2i + 0.4d) / 1.4d, the constants in double.
std::vector<float> GrowthOf(int64_t pairs) {
  const auto width = static_cast<double>(2 * pairs);
  const auto shift = static_cast<float>(0.4 * width), size = static_cast<float>(1.4 * width);
  std::vector<float> growth;
  for (int64_t i = 0; i < pairs; ++i) growth.push_back((static_cast<float>(2 * i) + shift) / size);
  return growth;
}

}  // namespace

TableFacts FactsOf(const Float32Table& table) {
  TableFacts facts;
  const std::vector<float> w = table.angles.At(1);
  facts.inverse_frequencies.assign(w.begin(), w.end());
  facts.axis_of_pair = table.form.axis_of_pair;
  facts.magnitude = table.magnitude;
  facts.softmax_scale = table.softmax_scale;
  facts.error_bound = kBound;
  return facts;
}

struct Float32Generator::Scratch {
  Scratch(int64_t pairs, size_t element_bytes)
      : count(static_cast<size_t>(pairs)),
        angles(count + kCosSinPadding),
        cos(count + kCosSinPadding),
        sin(count + kCosSinPadding),
        undecided(count),
        elements(count * element_bytes) {}

  // cos and sin of the angles, times the magnitude.
  void TakeCosSin(float magnitude) {
    const size_t listed = WriteCosSin(angles.data(), count, cos.data(), sin.data(), undecided.data());
    for (size_t i = 0; i < listed; ++i) {
      const uint32_t k = undecided[i];
      const CosSinF32 exact = CosSinOf(angles[k]);
      cos[k] = exact.cos;
      sin[k] = exact.sin;
    }
    if (magnitude == 1) return;
    Scale(cos, magnitude);
    Scale(sin, magnitude);
  }

  size_t count;
  std::vector<float> angles, cos, sin;
  std::vector<uint32_t> undecided;
  std::vector<std::byte> elements;
};

Float32Generator::Float32Generator(Float32Table table) : table_(std::move(table)), facts_(FactsOf(table_)) {
  if (table_.xpos) growth_ = GrowthOf(table_.angles.pairs());
}

size_t Float32Generator::footprint_bytes() const {
  return sizeof(*this) + table_.angles.footprint_bytes() + growth_.capacity() * sizeof(float) +
         facts_.inverse_frequencies.capacity() * sizeof(double);
}

void Float32Generator::Generate(int64_t first_row, int64_t row_count,
                                std::span<std::byte* const> out) const {
  const TableShape& shape = table_.form.shape;
  const bool single = shape.row_kind == RowKind::kSingle;
  Scratch scratch(table_.angles.pairs(), table_.form.element_bytes());
  std::array<float, limits::kMaxAxes> coordinates;
  for (int64_t row = 0; row < row_count; ++row) {
    const int64_t position = single ? 1 : PositionOfRow(shape, first_row + row);
    coordinates.fill(static_cast<float>(position));
    WriteRow(coordinates, row, out, scratch);
  }
  const std::optional<int64_t>& zero = table_.form.zero_row;
  if (zero && *zero >= first_row && *zero < first_row + row_count) ClearRow(*zero - first_row, out);
}

void Float32Generator::GenerateAt(std::span<const double> positions,
                                  std::span<std::byte* const> out) const {
  const TableShape& shape = table_.form.shape;
  const auto axes = static_cast<size_t>(shape.position_axes);
  Scratch scratch(table_.angles.pairs(), table_.form.element_bytes());
  std::array<float, limits::kMaxAxes> coordinates{};
  const std::optional<int64_t>& zero = table_.form.zero_row;
  for (size_t row = 0; row < positions.size() / axes; ++row) {
    for (size_t axis = 0; axis < axes; ++axis) {
      coordinates[axis] = static_cast<float>(positions[row * axes + axis]);
    }
    WriteRow(coordinates, static_cast<int64_t>(row), out, scratch);
    const bool is_zero = zero && positions[row] == static_cast<double>(PositionOfRow(shape, *zero));
    if (is_zero) ClearRow(static_cast<int64_t>(row), out);
  }
}

void Float32Generator::WriteRow(std::span<const float> coordinates, int64_t row,
                                std::span<std::byte* const> out, Scratch& scratch) const {
  const std::span<float> angles(scratch.angles.data(), scratch.count);
  table_.angles.Write(coordinates, angles);
  switch (table_.cells) {
    case Float32Cells::kPhasors:
      scratch.TakeCosSin(table_.magnitude);
      if (table_.xpos) return WriteXPos(coordinates[0], row, out, scratch);
      break;
    case Float32Cells::kAngles:
      std::copy(angles.begin(), angles.end(), scratch.cos.begin());
      break;
    case Float32Cells::kPeriods:
      for (size_t i = 0; i < scratch.count; ++i) scratch.cos[i] = 1.0F / angles[i];
      break;
  }
  Store(scratch, row, 0, out);
}

// Queries times g^z, keys by it: FlashAttention's tables.
void Float32Generator::WriteXPos(float position, int64_t row, std::span<std::byte* const> out,
                                 Scratch& scratch) const {
  const float z = (position - static_cast<float>(table_.xpos->centre)) /
                  static_cast<float>(table_.xpos->scale_base);
  Scratch keys = scratch;
  for (size_t i = 0; i < scratch.count; ++i) {
    const float scale = PowF32(growth_[i], z);
    scratch.cos[i] *= scale;
    scratch.sin[i] *= scale;
    keys.cos[i] /= scale;
    keys.sin[i] /= scale;
  }
  Store(scratch, row, 0, out);
  Store(keys, row, 2, out);
}

void Float32Generator::Store(Scratch& scratch, int64_t row, int first_tensor,
                             std::span<std::byte* const> out) const {
  const PhasorForm& form = table_.form;
  const auto bytes = static_cast<int64_t>(form.element_bytes());
  // Converts one half of the row and copies it to all of its places.
  const auto store = [&](const std::vector<float>& values, auto places, auto count) {
    ConvertFloats({values.data(), scratch.count}, form.element_type, scratch.elements.data());
    for (const Segment& segment : form.layout.segments) {
      for (int copy = 0; copy < segment.copies; ++copy) {
        const Place& place = (segment.*places)[copy];
        CopyElements(scratch.elements.data() + segment.first_pair * bytes, segment.*count,
                     form.element_bytes(), segment.step(),
                     out[place.tensor + first_tensor] + row * form.row_bytes() + place.begin * bytes);
      }
    }
  };
  store(scratch.cos, &Segment::cos, &Segment::cosines);
  if (table_.cells == Float32Cells::kPhasors) {
    store(scratch.sin, &Segment::sin, &Segment::sines);
  }
  const int64_t zero_bytes = form.layout.zero_columns * bytes;
  if (zero_bytes > 0) std::memset(out[0] + (row + 1) * form.row_bytes() - zero_bytes, 0, zero_bytes);
}

void Float32Generator::ClearRow(int64_t row, std::span<std::byte* const> out) const {
  const int64_t bytes = table_.form.row_bytes();
  std::memset(out[0] + row * bytes, 0, bytes);
}

}  // namespace posenc

#include "server/encodings/phasor_generator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace posenc {
namespace {

// What subnormal low halves may lose. A sine that is 0 away from position 0 belongs to a frequency
// of 0, which loses nothing.
constexpr double kLeastDrift = 0x1p-1060;

}  // namespace

PhasorGenerator::PhasorGenerator(const PhasorTable& table)
    : cells_(table.rule, table.magnitude, table.element_type),
      layout_(table.layout),
      shape_(table.shape),
      zero_row_(table.zero_row),
      element_bytes_(ElementSizeBytes(table.element_type)),
      tile_(cells_) {
  facts_.inverse_frequencies = cells_.frequencies();
  facts_.magnitude = table.magnitude;
  facts_.error_bound = "correctly rounded (0.5 ulp)";
}

size_t PhasorGenerator::footprint_bytes() const {
  return sizeof(*this) + cells_.footprint_bytes() + tile_.footprint_bytes() +
         facts_.inverse_frequencies.capacity() * sizeof(double);
}

void PhasorGenerator::Generate(int64_t first_row, int64_t row_count,
                               std::span<std::byte* const> out) const {
  const Rows rows{out, shape_.first_position + first_row, row_count};
  for (int64_t first = 0; first < layout_.pairs(); first += kChunkPairs) {
    WriteChunk(rows, first, std::min(kChunkPairs, layout_.pairs() - first));
  }
  ClearZeroColumn(out, row_count);
  if (zero_row_ && *zero_row_ >= first_row && *zero_row_ < first_row + row_count) {
    ClearRow(out, *zero_row_ - first_row);
  }
}

void PhasorGenerator::GenerateAt(std::span<const int64_t> positions,
                                 std::span<std::byte* const> out) const {
  for (size_t row = 0; row < positions.size(); ++row) {
    for (int64_t k = 0; k < layout_.pairs(); ++k) WritePair(out, row, positions[row], k);
  }
  ClearZeroColumn(out, positions.size());
  if (!zero_row_) return;
  for (size_t row = 0; row < positions.size(); ++row) {
    if (positions[row] == shape_.first_position + *zero_row_) ClearRow(out, row);
  }
}

void PhasorGenerator::SetAccurateAnchor(int64_t position, int64_t k, int64_t i,
                                        Anchors& anchors) const {
  const Phasor phasor = cells_.At(position, k);
  const DoubleDouble cos = ToDoubleDouble(phasor.cos), sin = ToDoubleDouble(phasor.sin);
  anchors.cos_high[i] = cos.high;
  anchors.cos_low[i] = cos.low;
  anchors.sin_high[i] = sin.high;
  anchors.sin_low[i] = sin.low;
  anchors.drift[i] = phasor.sin.mantissa == 0 && position != 0 ? 0.0 : kLeastDrift;
}

void PhasorGenerator::StartAnchors(int64_t position, int64_t first_pair, int64_t pairs,
                                   Anchors& anchors) const {
  const auto set_accurately = [&](int64_t i) {
    SetAccurateAnchor(position, first_pair + i, i, anchors);
  };
  if (cells_.type() == ElementType::kF64) {
    for (int64_t i = 0; i < pairs; ++i) set_accurately(i);
    return;
  }
  ReducedAngles angles{};  // the lanes behind the last pair are computed too
  std::array<int16_t, kChunkPairs> accurate;
  size_t count = 0;
  for (int64_t i = 0; i < pairs; ++i) {
    const std::optional<StepAndRest> angle = ReduceAngle(cells_.turns(first_pair + i), position);
    if (!angle) accurate[count++] = static_cast<int16_t>(i);
    const StepAndRest& reduced = angle.value_or(StepAndRest{});
    const StepPhasor& step = PhasorOfStep(reduced.step);
    angles.rest_high[i] = reduced.rest.high;
    angles.rest_low[i] = reduced.rest.low;
    angles.cos_high[i] = step.cos.high;
    angles.cos_low[i] = step.cos.low;
    angles.sin_high[i] = step.sin.high;
    angles.sin_low[i] = step.sin.low;
  }
  SetAnchors(angles, cells_.magnitude(), pairs, anchors);
  for (size_t i = 0; i < count; ++i) set_accurately(accurate[i]);
}

void PhasorGenerator::WriteChunk(const Rows& rows, int64_t first_pair, int64_t pairs) const {
  Anchors anchors{};
  std::array<uint32_t, kMaxTileRows * kChunkPairs> undecided;
  TileArgs args = ChunkArgs(first_pair, pairs);
  args.anchors = &anchors;
  args.undecided = undecided.data();
  for (int64_t row = 0, tile = 0; row < rows.count; row += tile_.rows(), ++tile) {
    const int64_t position = rows.first_position + row;
    if (tile % kTilesPerAnchor == 0) {
      StartAnchors(position, first_pair, pairs, anchors);
    } else {
      AdvanceAnchors(cells_.type(), tile_.StepFrom(first_pair), args.sin_bound, args.magnitude,
                     pairs, anchors);
    }
    args.rows = static_cast<int>(std::min<int64_t>(tile_.rows(), rows.count - row));
    PlaceTile(rows.out, row, first_pair, args);
    const size_t count = WriteTile(cells_.type(), args);
    for (size_t i = 0; i < count; ++i) {
      const int64_t r = undecided[i] >> 16;
      WritePair(rows.out, row + r, position + r, first_pair + (undecided[i] & 0xFFFF));
    }
  }
}

TileArgs PhasorGenerator::ChunkArgs(int64_t first_pair, int64_t pairs) const {
  TileArgs args;
  args.phasors = tile_.RowsFrom(first_pair);
  args.phasor_stride = tile_.stride();
  args.sin_bound = tile_.SinBoundFrom(first_pair);
  args.magnitude = cells_.magnitude();
  args.pairs = pairs;
  args.cosines = std::min(pairs, layout_.cosines - first_pair);
  args.sines = std::min(pairs, layout_.sines - first_pair);
  args.form = layout_.form;
  args.copies = layout_.copies;
  args.sine_first = layout_.sin[0].begin < layout_.cos[0].begin;
  args.row_bytes = shape_.tensors.front().row_bytes();
  return args;
}

void PhasorGenerator::PlaceTile(std::span<std::byte* const> out, int64_t row, int64_t first_pair,
                                TileArgs& args) const {
  const auto at = [&](const Place& place) {
    const int64_t element = place.begin + first_pair * layout_.step();
    return out[place.tensor] + row * args.row_bytes +
           element * static_cast<int64_t>(element_bytes_);
  };
  for (int copy = 0; copy < layout_.copies; ++copy) {
    args.cos[copy] = at(layout_.cos[copy]);
    args.sin[copy] = at(layout_.sin[copy]);
  }
}

void PhasorGenerator::WritePair(std::span<std::byte* const> out, int64_t row, int64_t position,
                                int64_t k) const {
  const PhasorCells::Bits bits = cells_.RoundedAt(position, k);
  const int64_t row_bytes = shape_.tensors.front().row_bytes();
  const auto store = [&](const Place& place, uint64_t value) {
    const int64_t element = place.begin + k * layout_.step();
    std::byte* to =
        out[place.tensor] + row * row_bytes + element * static_cast<int64_t>(element_bytes_);
    StoreElement(to, value, element_bytes_);
  };
  for (int copy = 0; copy < layout_.copies; ++copy) {
    if (k < layout_.cosines) store(layout_.cos[copy], bits.cos);
    if (k < layout_.sines) store(layout_.sin[copy], bits.sin);
  }
}

void PhasorGenerator::ClearZeroColumn(std::span<std::byte* const> out, int64_t row_count) const {
  if (!layout_.zero_column) return;
  const int64_t row_bytes = shape_.tensors.front().row_bytes();
  for (int64_t row = 1; row <= row_count; ++row) {
    std::memset(out[0] + row * row_bytes - element_bytes_, 0, element_bytes_);
  }
}

void PhasorGenerator::ClearRow(std::span<std::byte* const> out, int64_t row) const {
  const int64_t row_bytes = shape_.tensors.front().row_bytes();
  std::memset(out[0] + row * row_bytes, 0, row_bytes);
}

}  // namespace posenc

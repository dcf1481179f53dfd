#include "server/encodings/phasors/phasor_generator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

namespace posenc {
namespace {

// What subnormal low halves may lose. A sine that is 0 away from position 0 belongs to a frequency
// of 0 or of whole half turns, which loses nothing.
constexpr double kLeastDrift = 0x1p-1060;

}  // namespace

PhasorGenerator::PhasorGenerator(const PhasorTable& table)
    : form_(table.form),
      cells_(table.frequencies, table.magnitude, table.form.element_type),
      facts_(FactsOf(table)),
      tile_(cells_, table.form.shape.descending) {
  facts_.inverse_frequencies = cells_.frequencies();
}

size_t PhasorGenerator::footprint_bytes() const {
  return sizeof(*this) + cells_.footprint_bytes() + tile_.footprint_bytes() +
         facts_.inverse_frequencies.capacity() * sizeof(double) +
         2 * form_.axis_of_pair.capacity() * sizeof(int32_t);
}

void PhasorGenerator::Generate(int64_t first_row, int64_t row_count,
                               std::span<std::byte* const> out) const {
  WriteRows({out, first_row, row_count});
  ClearZeroColumns(out, row_count);
  const auto& zero_row = form_.zero_row;
  if (zero_row && *zero_row >= first_row && *zero_row < first_row + row_count) {
    ClearRow(out, *zero_row - first_row);
  }
}

void PhasorGenerator::GenerateAt(std::span<const double> positions,
                                 std::span<std::byte* const> out) const {
  const auto axes = static_cast<size_t>(form_.shape.position_axes);
  const auto rows = static_cast<int64_t>(positions.size() / axes);
  const bool by_tiles = axes == 1 && cells_.type() != ElementType::kF64;  // of one row each
  std::vector<Real> real_turns;  // made for the first position that is not whole
  std::vector<std::byte*> at(out.begin(), out.end());
  for (int64_t row = 0; row < rows; ++row) {
    const double position = positions[row * axes];
    if (by_tiles && position == std::trunc(position)) {
      WriteRows({at, RowAtPosition(form_.shape, static_cast<int64_t>(position)), 1});
    } else {
      WriteRowAt(positions.subspan(row * axes, axes), out, row, real_turns);
    }
    for (std::byte*& tensor : at) tensor += form_.row_bytes();
  }
  ClearZeroColumns(out, rows);
  if (!form_.zero_row) return;
  const auto zero_position = static_cast<double>(PositionOfRow(form_.shape, *form_.zero_row));
  for (int64_t row = 0; row < rows; ++row) {
    if (positions[row * axes] == zero_position) ClearRow(out, row);
  }
}

void PhasorGenerator::WriteRows(const Rows& rows) const {
  for (const Segment& segment : form_.layout.segments) {
    for (int64_t first = 0; first < segment.pairs(); first += kChunkPairs) {
      WriteChunk(rows, segment, first, std::min(kChunkPairs, segment.pairs() - first));
    }
  }
}

void PhasorGenerator::WriteRowAt(std::span<const double> position, std::span<std::byte* const> out,
                                 int64_t row, std::vector<Real>& real_turns) const {
  for (const Segment& segment : form_.layout.segments) {
    for (int64_t i = 0; i < segment.pairs(); ++i) {
      const int64_t k = segment.first_pair + i;
      const double p = position[form_.AxisOf(k)];
      if (p == std::trunc(p)) {
        Store(out, row, segment, i, cells_.RoundedAt(static_cast<int64_t>(p), k));
      } else {
        if (real_turns.empty()) real_turns = cells_.RealTurns();
        Store(out, row, segment, i, cells_.RoundedAt(Coordinate(p), real_turns, k));
      }
    }
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
  SetAnchors(angles, {cells_.magnitude().high(), cells_.magnitude().low()}, pairs, anchors);
  for (size_t i = 0; i < count; ++i) set_accurately(accurate[i]);
}

void PhasorGenerator::WriteChunk(const Rows& rows, const Segment& segment, int64_t first,
                                 int64_t pairs) const {
  Anchors anchors{};
  std::array<uint32_t, kMaxTileRows * kChunkPairs> undecided;
  const int64_t first_pair = segment.first_pair + first;
  TileArgs args = ChunkArgs(segment, first, pairs);
  args.anchors = &anchors;
  args.undecided = undecided.data();
  for (int64_t row = 0, tile = 0; row < rows.count; row += tile_.rows(), ++tile) {
    if (tile % kTilesPerAnchor == 0) {
      const int64_t centre = PositionOfRow(form_.shape, rows.first_row + row + args.centre);
      StartAnchors(centre, first_pair, pairs, anchors);
    } else {
      AdvanceAnchors(cells_.type(), tile_.StepFrom(first_pair), args.sin_bound, args.magnitude,
                     pairs, anchors);
    }
    args.rows = static_cast<int>(std::min<int64_t>(tile_.rows(), rows.count - row));
    PlaceTile(rows.out, row, segment, first, args);
    const size_t count = WriteTile(cells_.type(), args);
    for (size_t i = 0; i < count; ++i) {
      const int64_t r = row + (undecided[i] >> 16), pair = first + (undecided[i] & 0xFFFF);
      const int64_t position = PositionOfRow(form_.shape, rows.first_row + r);
      Store(rows.out, r, segment, pair, cells_.RoundedAt(position, segment.first_pair + pair));
    }
  }
}

TileArgs PhasorGenerator::ChunkArgs(const Segment& segment, int64_t first, int64_t pairs) const {
  TileArgs args;
  args.phasors = tile_.RowsFrom(segment.first_pair + first);
  args.phasor_stride = tile_.stride();
  args.sin_bound = tile_.SinBoundFrom(segment.first_pair + first);
  args.centre = tile_.reach();
  args.magnitude = cells_.magnitude().high();
  args.pairs = pairs;
  args.cosines = std::min(pairs, segment.cosines - first);
  args.sines = std::min(pairs, segment.sines - first);
  args.form = segment.form;
  args.copies = segment.copies;
  args.sine_first = segment.sin[0].begin < segment.cos[0].begin;
  args.row_bytes = form_.row_bytes();
  return args;
}

void PhasorGenerator::PlaceTile(std::span<std::byte* const> out, int64_t row, const Segment& segment,
                                int64_t first, TileArgs& args) const {
  const auto at = [&](const Place& place) {
    const int64_t element = place.begin + first * segment.step();
    return out[place.tensor] + row * args.row_bytes +
           element * static_cast<int64_t>(form_.element_bytes());
  };
  for (int copy = 0; copy < segment.copies; ++copy) {
    args.cos[copy] = at(segment.cos[copy]);
    args.sin[copy] = at(segment.sin[copy]);
  }
}

void PhasorGenerator::Store(std::span<std::byte* const> out, int64_t row, const Segment& segment,
                            int64_t i, const PhasorCells::Bits& bits) const {
  StorePair(segment, i, bits.cos, bits.sin, form_.element_bytes(),
            [&](int tensor) { return out[tensor] + row * form_.row_bytes(); });
}

void PhasorGenerator::ClearZeroColumns(std::span<std::byte* const> out, int64_t row_count) const {
  if (form_.layout.zero_columns == 0) return;
  const auto bytes = form_.layout.zero_columns * static_cast<int64_t>(form_.element_bytes());
  for (int64_t row = 1; row <= row_count; ++row) {
    std::memset(out[0] + row * form_.row_bytes() - bytes, 0, bytes);
  }
}

void PhasorGenerator::ClearRow(std::span<std::byte* const> out, int64_t row) const {
  std::memset(out[0] + row * form_.row_bytes(), 0, form_.row_bytes());
}

}  // namespace posenc

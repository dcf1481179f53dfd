#include "server/encodings/sinusoidal/grid_generator.h"

#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "server/encodings/exact/multiplier.h"
#include "server/encodings/exact/phasor_cells.h"
#include "server/encodings/exact/ziv.h"
#include "server/encodings/sinusoidal/grid_rows.h"

namespace posenc {
namespace {

// The cells that one call has computed so far: for each axis and index, those of the axis' pairs.
class CellCache {
 public:
  CellCache(const PhasorForm& form, CellFunction compute)
      : compute_(std::move(compute)), pairs_(form.grid->sizes.size()), cells_(pairs_.size()) {
    for (int64_t k = 0; k < form.layout.pairs; ++k) pairs_[form.AxisOf(k)].push_back(k);
  }

  // Calls `store` with each pair of the axis and its cell.
  template <typename Store>
  void ForEach(size_t axis, int64_t j, const Store& store) {
    const std::vector<int64_t>& pairs = pairs_[axis];
    auto [at, is_new] = cells_[axis].try_emplace(j);
    if (is_new) {
      for (int64_t k : pairs) at->second.push_back(compute_(k, j));
    }
    for (size_t i = 0; i < pairs.size(); ++i) store(pairs[i], at->second[i]);
  }

  size_t axes() const { return pairs_.size(); }

 private:
  CellFunction compute_;
  std::vector<std::vector<int64_t>> pairs_;
  std::vector<std::unordered_map<int64_t, std::vector<CellBits>>> cells_;
};

// Where the pairs of a form are stored.
std::vector<const Segment*> SegmentOfPair(const RowLayout& layout) {
  std::vector<const Segment*> result(layout.pairs);
  for (const Segment& segment : layout.segments) {
    for (int64_t i = 0; i < segment.pairs(); ++i) result[segment.first_pair + i] = &segment;
  }
  return result;
}

}  // namespace

GridGenerator::GridGenerator(PhasorForm form, TableFacts facts, std::function<CellFunction()> start,
                             size_t shared_bytes)
    : form_(std::move(form)),
      facts_(std::move(facts)),
      start_(std::move(start)),
      shared_bytes_(shared_bytes) {}

void GridGenerator::Generate(int64_t first_row, int64_t row_count,
                             std::span<std::byte* const> out) const {
  CellCache cells(form_, start_());
  const std::vector<const Segment*> segments = SegmentOfPair(form_.layout);
  const size_t element_bytes = form_.element_bytes();
  const int64_t row_bytes = form_.row_bytes();
  const auto zero_bytes = form_.layout.zero_columns * static_cast<int64_t>(element_bytes);
  for (int64_t row = 0; row < row_count; ++row) {
    const std::optional<CellIndex> cell = CellOfRow(*form_.grid, first_row + row);
    if (!cell && form_.zero_class_rows) {
      std::memset(out[0] + row * row_bytes, 0, row_bytes);
      continue;
    }
    for (size_t axis = 0; axis < cells.axes(); ++axis) {
      cells.ForEach(axis, cell ? (*cell)[axis] : -1, [&](int64_t k, const CellBits& bits) {
        const Segment* segment = segments[k];
        if (segment == nullptr) return;
        StorePair(*segment, k - segment->first_pair, bits.cos, bits.sin, element_bytes,
                  [&](int tensor) { return out[tensor] + row * row_bytes; });
      });
    }
    std::memset(out[0] + (row + 1) * row_bytes - zero_bytes, 0, zero_bytes);
  }
}

std::shared_ptr<const TableGenerator> MakePhasorGrid(const PhasorTable& table) {
  auto cells = std::make_shared<const PhasorCells>(table.frequencies, table.magnitude,
                                                   table.form.element_type);
  TableFacts facts = FactsOf(table);
  facts.inverse_frequencies = cells->frequencies();
  const auto start = [cells, form = table.form]() -> CellFunction {
    auto turns = std::make_shared<const std::vector<Real>>(cells->RealTurns());
    return [cells, turns, &form](int64_t k, int64_t j) {
      const auto axis = static_cast<size_t>(form.AxisOf(k));
      const Coordinate at = j < 0 ? Coordinate(0.0) : CoordinateOf(*form.grid, axis, j);
      const PhasorCells::Bits bits = cells->RoundedAt(at, *turns, k);
      return CellBits{bits.cos, bits.sin};
    };
  };
  return std::make_shared<GridGenerator>(table.form, std::move(facts), start, cells->footprint_bytes());
}

namespace {

// The angle c · w_k, w_k the element `frequency`; undecided ones by Ziv's method.
uint64_t RoundedAngle(ElementType type, const Coordinate& at, const Real& frequency,
                      const FrequencySource& source, int64_t k) {
  const Real angle = at.Times(frequency);
  if (mpfr_zero_p(angle.get())) return 0;
  if (const auto bits = RoundTo(type, Multiplier(angle).Times(1))) return *bits;
  return RoundByZiv(type, [&](int64_t bits, Real& value) {
    const Real exact = at.Times(AsRadians(source, source.At(k, bits)));
    mpfr_set(value.get(), exact.get(), MPFR_RNDN);
    return mpfr_get_exp(value.get()) - bits + 4;
  });
}

}  // namespace

std::shared_ptr<const TableGenerator> MakeAngleGrid(const PhasorTable& table) {
  auto frequencies = std::make_shared<std::vector<Real>>();
  TableFacts facts = FactsOf(table);
  const FrequencySource& source = *table.frequencies;
  source.ForEach(Multiplier::kMultiplierBits + 16, [&](int64_t, const Real& value) {
    frequencies->push_back(AsRadians(source, value));
    facts.inverse_frequencies.push_back(mpfr_get_d(frequencies->back().get(), MPFR_RNDN));
  });
  const auto start = [frequencies, table]() -> CellFunction {
    return [&frequencies, &table](int64_t k, int64_t j) {
      const auto axis = static_cast<size_t>(table.form.AxisOf(k));
      const Coordinate at = j < 0 ? Coordinate(0.0) : CoordinateOf(*table.form.grid, axis, j);
      const ElementType type = table.form.element_type;
      return CellBits{.cos = RoundedAngle(type, at, (*frequencies)[k], *table.frequencies, k)};
    };
  };
  const size_t bytes = frequencies->capacity() * (sizeof(Real) + 64);
  return std::make_shared<GridGenerator>(table.form, std::move(facts), start, bytes);
}

}  // namespace posenc

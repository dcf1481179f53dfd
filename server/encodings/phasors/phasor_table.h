// What a sinusoidal or rotary table is made of: its form, and its numbers.
//
// The form says where every cell stands and which row, axis and pair it belongs to, whatever arithmetic
// fills it; it also describes tables of angles (row_layout.h). The numbers are those of exact arithmetic.
// Values.

#ifndef POSENC_SERVER_ENCODINGS_PHASORS_PHASOR_TABLE_H_
#define POSENC_SERVER_ENCODINGS_PHASORS_PHASOR_TABLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "server/core/element_type.h"
#include "server/core/specs/grid.h"
#include "server/core/table_shape.h"
#include "server/encodings/exact/frequency_source.h"
#include "server/encodings/exact/magnitude.h"
#include "server/encodings/row_layout.h"
#include "server/encodings/table_generator.h"

namespace posenc {

struct PhasorForm {
  ElementType element_type = ElementType::kF32;  // of the numbers; a complex tensor holds pairs of them
  RowLayout layout;
  TableShape shape;                          // every tensor's row has the same bytes
  std::optional<int64_t> zero_row;           // row that is all zero
  std::vector<int32_t> axis_of_pair;         // empty: one axis
  std::optional<Grid> grid;                  // rows are its cells
  bool zero_class_rows = false;              // a grid's extra rows are zeros, otherwise angle 0

  int32_t AxisOf(int64_t pair) const { return axis_of_pair.empty() ? 0 : axis_of_pair[pair]; }
  int64_t row_bytes() const { return shape.tensors.front().row_bytes(); }  // of each tensor
  size_t element_bytes() const { return ElementSizeBytes(element_type); }
};

struct PhasorTable {
  PhasorForm form;
  Frequencies frequencies;  // of each pair, per unit of its axis' coordinate
  Magnitude magnitude;
  double softmax_scale = 1.0;
};

// The position of a row of a table without a grid.
inline int64_t PositionOfRow(const TableShape& shape, int64_t row) {
  return shape.descending ? shape.first_position - row : shape.first_position + row;
}

// The row of a whole position, which may lie before or behind the table's.
inline int64_t RowAtPosition(const TableShape& shape, int64_t position) {
  return shape.descending ? shape.first_position - position : position - shape.first_position;
}

inline constexpr char kCorrectlyRounded[] = "correctly rounded (0.5 ulp)";

// What a description says about a table, but its frequencies.
inline TableFacts FactsOf(const PhasorTable& table) {
  TableFacts facts;
  facts.axis_of_pair = table.form.axis_of_pair;
  facts.magnitude = table.magnitude.high();
  facts.softmax_scale = table.softmax_scale;
  facts.error_bound = kCorrectlyRounded;
  return facts;
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_PHASORS_PHASOR_TABLE_H_

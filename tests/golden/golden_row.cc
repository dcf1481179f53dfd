#include "tests/golden/golden_row.h"

#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "tests/golden/golden_number.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

std::vector<std::vector<std::byte>> RowMemory(const TableShape& shape) {
  std::vector<std::vector<std::byte>> tensors;
  for (const TensorShape& tensor : shape.tensors) tensors.emplace_back(tensor.row_bytes());
  return tensors;
}

std::vector<std::byte*> Pointers(std::vector<std::vector<std::byte>>& tensors) {
  std::vector<std::byte*> pointers;
  for (auto& tensor : tensors) pointers.push_back(tensor.data());
  return pointers;
}

}  // namespace

GoldenTable::GoldenTable(const TableSpec& spec) {
  const absl::StatusOr<TableSpec> normalized = Normalize(spec);
  EXPECT_OK(normalized);
  if (!normalized.ok()) return;
  auto generator = MakeTableGenerator(*normalized);
  EXPECT_OK(generator);
  if (generator.ok()) generator_ = *std::move(generator);
}

std::vector<double> GoldenTable::Row(int64_t row) const {
  auto tensors = RowMemory(shape());
  generator_->Generate(row, 1, Pointers(tensors));
  if (shape().row_kind == RowKind::kPositions) {
    auto gathered = RowMemory(shape());
    const double position = static_cast<double>(shape().first_position + row);
    const std::vector<double> everywhere(shape().position_axes, position);
    generator_->GenerateAt(everywhere, Pointers(gathered));
    EXPECT_EQ(gathered, tensors) << "row " << row;
  }
  return Decode(tensors);
}

std::vector<double> GoldenTable::RowAt(const std::vector<double>& position) const {
  auto tensors = RowMemory(shape());
  generator_->GenerateAt(position, Pointers(tensors));
  return Decode(tensors);
}

std::vector<double> GoldenTable::Decode(const std::vector<std::vector<std::byte>>& tensors) const {
  std::vector<double> values;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const ElementType type = shape().tensors[t].element_type;
    for (size_t at = 0; at < tensors[t].size(); at += ElementSizeBytes(type)) {
      values.push_back(DecodeElement(type, tensors[t].data() + at));
    }
  }
  return values;
}

}  // namespace posenc

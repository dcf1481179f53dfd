// Rows of our own tables, as numbers.

#ifndef POSENC_TESTS_GOLDEN_GOLDEN_ROW_H_
#define POSENC_TESTS_GOLDEN_GOLDEN_ROW_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "server/core/specs/spec.h"
#include "server/encodings/table_generator.h"

namespace posenc {

inline constexpr ElementType kRealTypes[] = {ElementType::kF64, ElementType::kF32, ElementType::kF16,
                                             ElementType::kBF16};

// The table of one spec. Failures are failures of the running test.
class GoldenTable {
 public:
  explicit GoldenTable(const TableSpec& spec);

  // False when the spec was refused; then nothing else may be called.
  bool valid() const { return generator_ != nullptr; }
  const TableShape& shape() const { return generator_->shape(); }
  const TableFacts& facts() const { return generator_->facts(); }

  // Returns one row, the tensors one after the other. A row that has a position is generated as a row
  // and as a position, and both must be the same.
  std::vector<double> Row(int64_t row) const;

  // Returns the row of a position, one coordinate for each axis, which may lie outside of the table.
  std::vector<double> RowAt(const std::vector<double>& position) const;

 private:
  std::vector<double> Decode(const std::vector<std::vector<std::byte>>& tensors) const;

  std::shared_ptr<const TableGenerator> generator_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_GOLDEN_GOLDEN_ROW_H_

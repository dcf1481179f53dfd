#include "server/tables/table.h"

#include <bit>
#include <utility>

namespace posenc {
namespace {

int64_t RowsPerBlock(int64_t row_bytes, size_t block_bytes) {
  const auto fitting = static_cast<uint64_t>(block_bytes) / static_cast<uint64_t>(row_bytes);
  return fitting == 0 ? 1 : static_cast<int64_t>(std::bit_floor(fitting));
}

}  // namespace

Table::Table(TableSpec normalized, std::shared_ptr<const TableGenerator> generator,
             size_t block_bytes)
    : spec_(std::move(normalized)),
      key_(KeyOf(spec_)),
      generator_(std::move(generator)),
      rows_(shape().rows()),
      row_bytes_(shape().row_bytes()),
      rows_per_block_(RowsPerBlock(row_bytes_, block_bytes)) {}

}  // namespace posenc

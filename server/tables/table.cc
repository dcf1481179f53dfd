#include "server/tables/table.h"

#include <openssl/sha.h>

#include <bit>
#include <string>
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

Table::Table(std::shared_ptr<const Table> origin)
    : spec_(origin->spec_),
      key_(SharedKeyOf(origin->key_)),
      generator_(origin->generator_),
      rows_(origin->rows_),
      row_bytes_(origin->row_bytes_),
      rows_per_block_(origin->rows_),
      origin_(std::move(origin)) {}

std::shared_ptr<const Table> Table::Shared(std::shared_ptr<const Table> origin) {
  return std::shared_ptr<const Table>(new Table(std::move(origin)));
}

TableKey Table::SharedKeyOf(const TableKey& key) {
  const std::string text = "posenc.shared/1\n" + key.ToHex();
  TableKey shared;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), shared.digest.data());
  return shared;
}

}  // namespace posenc

// One table as the server knows it: its spec, key and generator, and how its rows are cut into blocks.
//
// Threads: immutable. Ownership: shared by everyone who works on the table.

#ifndef POSENC_SERVER_TABLES_TABLE_H_
#define POSENC_SERVER_TABLES_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "server/core/specs/spec.h"
#include "server/core/table_key.h"
#include "server/encodings/table_generator.h"

namespace posenc {

class Table {
 public:
  // `normalized` must be normalised and `generator` made from it. Blocks are the largest power of two of
  // rows that takes at most `block_bytes`, and at least one row.
  Table(TableSpec normalized, std::shared_ptr<const TableGenerator> generator, size_t block_bytes);

  // The same table as one block in sealed memory that other processes may map. It has a key of its own in
  // the store, and keeps `origin` and its generator.
  static std::shared_ptr<const Table> Shared(std::shared_ptr<const Table> origin);

  // The key of the shared form of the table with this key.
  static TableKey SharedKeyOf(const TableKey& key);

  bool shared() const { return origin_ != nullptr; }
  // The table that this is the shared form of; null for others.
  const std::shared_ptr<const Table>& origin() const { return origin_; }

  const TableKey& key() const { return key_; }
  const TableSpec& spec() const { return spec_; }
  const TableGenerator& generator() const { return *generator_; }
  const TableShape& shape() const { return generator_->shape(); }

  int64_t rows() const { return rows_; }
  int64_t rows_per_block() const { return rows_per_block_; }
  int64_t block_count() const { return (rows_ + rows_per_block_ - 1) / rows_per_block_; }
  int64_t BlockOfRow(int64_t row) const { return row / rows_per_block_; }
  int64_t FirstRow(int64_t block) const { return block * rows_per_block_; }
  int64_t RowCount(int64_t block) const {
    return std::min(rows_per_block_, rows_ - FirstRow(block));
  }

 private:
  explicit Table(std::shared_ptr<const Table> origin);

  TableSpec spec_;
  TableKey key_;
  std::shared_ptr<const TableGenerator> generator_;
  int64_t rows_;
  int64_t row_bytes_;
  int64_t rows_per_block_;
  std::shared_ptr<const Table> origin_;
};

using TablePtr = std::shared_ptr<const Table>;

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_TABLE_H_

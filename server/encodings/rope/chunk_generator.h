// The five tables of dual chunk attention (An et al. 2024): rows of another table, taken at other
// positions (core/specs/rope_variants.h).
//
// Rows come in runs of consecutive positions, or of one position repeated, so that a block costs a few
// calls of the inner generator. A position that is asked for is a row of the chunk's table.
//
// Threads: immutable. Owns a share of the inner generator.

#ifndef POSENC_SERVER_ENCODINGS_ROPE_CHUNK_GENERATOR_H_
#define POSENC_SERVER_ENCODINGS_ROPE_CHUNK_GENERATOR_H_

#include <cstdint>
#include <memory>

#include "server/core/specs/rope_spec.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// The spec whose rows are all positions that `spec`'s table takes rows at; `spec` without dual_chunk.
RopeSpec PlainRows(const RopeSpec& spec);

class ChunkGenerator final : public TableGenerator {
 public:
  // `rows` is the table of PlainRows: row r is position r. `max_len` is the number of keys.
  ChunkGenerator(std::shared_ptr<const TableGenerator> rows, const DualChunk& chunk, int64_t max_len);

  const TableShape& shape() const override { return shape_; }
  const TableFacts& facts() const override { return rows_->facts(); }
  size_t footprint_bytes() const override { return sizeof(*this) + rows_->footprint_bytes(); }
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  void GenerateAt(std::span<const double> positions,
                  std::span<std::byte* const> out) const override;

 private:
  // Rows from one on whose positions follow each other, or are the same.
  struct Run {
    int64_t position;
    int64_t count;
    bool repeated;
  };
  Run RunFrom(int64_t row) const;
  void Repeat(int64_t count, std::span<std::byte* const> out) const;

  std::shared_ptr<const TableGenerator> rows_;
  DualChunk chunk_;
  TableShape shape_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ROPE_CHUNK_GENERATOR_H_

#include "server/encodings/rope/chunk_generator.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace posenc {
namespace {

int64_t ChunkLength(const DualChunk& chunk) { return chunk.chunk_size - chunk.local_size; }

}  // namespace

RopeSpec PlainRows(const RopeSpec& spec) {
  RopeSpec plain = spec;
  if (!spec.dual_chunk) return plain;
  plain.dual_chunk.reset();
  plain.max_len = 2 * spec.dual_chunk->chunk_size;
  return plain;
}

ChunkGenerator::ChunkGenerator(std::shared_ptr<const TableGenerator> rows, const DualChunk& chunk,
                               int64_t max_len)
    : rows_(std::move(rows)), chunk_(chunk), shape_(rows_->shape()) {
  const int64_t count = chunk.role == ChunkRole::kKey ? max_len : ChunkLength(chunk);
  shape_.row_dims = {count};
  shape_.positions_begin = 0;
  shape_.positions_end = count;
  shape_.real_positions = false;
}

ChunkGenerator::Run ChunkGenerator::RunFrom(int64_t row) const {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  const int64_t c = ChunkLength(chunk_), whole = chunk_.chunk_size;
  switch (chunk_.role) {
    case ChunkRole::kQuery:
      return {row, kAll, false};
    case ChunkRole::kSuccessor:
      if (row + c >= whole) return {whole, kAll, true};
      return {row + c, whole - c - row, false};
    case ChunkRole::kCritical:
      return {row + c, kAll, false};
    case ChunkRole::kInter:
      return {row + whole, kAll, false};
    case ChunkRole::kKey:
      return {row % c, c - row % c, false};
  }
  return {};
}

void ChunkGenerator::Repeat(int64_t count, std::span<std::byte* const> out) const {
  for (size_t t = 0; t < out.size(); ++t) {
    const int64_t bytes = shape_.tensors[t].row_bytes();
    for (int64_t row = 1; row < count; ++row) std::memcpy(out[t] + row * bytes, out[t], bytes);
  }
}

void ChunkGenerator::Generate(int64_t first_row, int64_t row_count,
                              std::span<std::byte* const> out) const {
  std::vector<std::byte*> at(out.begin(), out.end());
  for (int64_t row = 0; row < row_count;) {
    const Run run = RunFrom(first_row + row);
    const int64_t count = std::min(run.count, row_count - row);
    rows_->Generate(run.position, run.repeated ? 1 : count, at);
    if (run.repeated) Repeat(count, at);
    for (size_t t = 0; t < at.size(); ++t) at[t] += count * shape_.tensors[t].row_bytes();
    row += count;
  }
}

void ChunkGenerator::GenerateAt(std::span<const double> positions,
                                std::span<std::byte* const> out) const {
  std::vector<double> rows;
  rows.reserve(positions.size());
  for (double position : positions) {
    rows.push_back(static_cast<double>(RunFrom(static_cast<int64_t>(position)).position));
  }
  rows_->GenerateAt(rows, out);
}

}  // namespace posenc

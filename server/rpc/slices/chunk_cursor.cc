#include "server/rpc/slices/chunk_cursor.h"

#include <algorithm>
#include <utility>

namespace posenc {

ChunkCursor::ChunkCursor(TablePtr table, SlicePlan plan, int64_t skip_rows, size_t block_bytes)
    : table_(std::move(table)), plan_(std::move(plan)), row_count_(plan_.row_count()) {
  // Whole rows are generated, whatever columns are kept: a chunk is a block's worth of work.
  const int64_t row_bytes = std::max<int64_t>(1, table_->shape().row_bytes());
  max_position_rows_ = std::max<int64_t>(1, static_cast<int64_t>(block_bytes) / row_bytes);
  Advance(skip_rows);
}

// Rows of the current run up to its end or the end of the block.
int64_t ChunkCursor::RunRows() const {
  const RowRun& run = plan_.runs[run_];
  const int64_t row = run.begin + in_run_;
  const int64_t block = table_->BlockOfRow(row);
  const int64_t block_end = table_->FirstRow(block) + table_->RowCount(block);
  return std::min(run.end, block_end) - row;
}

int64_t ChunkCursor::PositionRows() const { return std::min(max_position_rows_, row_count_ - next_row_); }

SlicePlan ChunkCursor::Peek() const {
  SlicePlan chunk;
  chunk.column_begin = plan_.column_begin;
  chunk.column_end = plan_.column_end;
  chunk.whole_rows = plan_.whole_rows;
  int64_t rows = 0;
  if (!done() && plan_.column_begin == plan_.column_end) {
    // Rows without columns have no bytes to fetch: all are one chunk, however long the table is.
    rows = row_count_ - next_row_;
    chunk.runs = {{0, rows}};
  } else if (!done() && plan_.positions.empty()) {
    rows = RunRows();
    const int64_t begin = plan_.runs[run_].begin + in_run_;
    chunk.runs = {{begin, begin + rows}};
  } else if (!done()) {
    rows = PositionRows();
    chunk.position_axes = plan_.position_axes;
    const auto first = plan_.positions.begin() + next_row_ * plan_.position_axes;
    chunk.positions.assign(first, first + rows * plan_.position_axes);
  }
  chunk.row_dims = {rows};
  return chunk;
}

BlockRange ChunkCursor::BlocksAhead(int64_t most) const {
  const bool rows_of_blocks = !done() && run_ < plan_.runs.size() && plan_.column_begin < plan_.column_end;
  if (!rows_of_blocks) return {};
  const RowRun& run = plan_.runs[run_];
  const int64_t next = table_->BlockOfRow(run.begin + in_run_) + 1;
  const int64_t last = table_->BlockOfRow(run.end - 1);
  return {next, std::max(next, std::min(next + most, last + 1))};
}

void ChunkCursor::Advance(int64_t rows) {
  next_row_ += rows;
  in_run_ += rows;
  while (run_ < plan_.runs.size() && in_run_ >= plan_.runs[run_].count()) {
    in_run_ -= plan_.runs[run_].count();
    ++run_;
  }
}

}  // namespace posenc

// Cuts a plan into the chunks of a stream: whole rows, in order, at most one block each.
//
// A chunk of a row range lies within one block and one run, so that it is sent without a copy; a chunk of
// positions is as many rows as a block takes whole, columns cut or not. Rows are counted within the answer.
//
// Threads: one at a time. Ownership: holds the table.

#ifndef POSENC_SERVER_RPC_SLICES_CHUNK_CURSOR_H_
#define POSENC_SERVER_RPC_SLICES_CHUNK_CURSOR_H_

#include <cstddef>
#include <cstdint>

#include "server/core/selection.h"
#include "server/tables/table.h"

namespace posenc {

// Blocks [begin, end) of a table.
struct BlockRange {
  int64_t begin = 0;
  int64_t end = 0;
};

class ChunkCursor {
 public:
  // Begins behind the first `skip_rows` rows. Requires: 0 <= skip_rows <= plan.row_count().
  ChunkCursor(TablePtr table, SlicePlan plan, int64_t skip_rows, size_t block_bytes);

  bool done() const { return next_row_ == row_count_; }
  int64_t next_row() const { return next_row_; }

  // Returns the plan of the next chunk; an empty plan when done.
  SlicePlan Peek() const;

  // Returns up to `most` blocks behind that of the next chunk that the chunks after it will need; none for
  // chunks that are no rows of blocks.
  BlockRange BlocksAhead(int64_t most) const;

  // Goes on behind a chunk of `rows` rows.
  void Advance(int64_t rows);

 private:
  int64_t RunRows() const;
  int64_t PositionRows() const;

  TablePtr table_;
  SlicePlan plan_;
  int64_t row_count_;
  int64_t max_position_rows_;
  int64_t next_row_ = 0;
  size_t run_ = 0;      // the run of the next row
  int64_t in_run_ = 0;  // rows of that run before it
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SLICES_CHUNK_CURSOR_H_

// Where an answer is put together: the layout of its buffer, and copying rows with their columns cut.
//
// Every tensor of the answer is contiguous, begins at a multiple of 64 bytes and has all rows of the plan.
// Behind the tensors lies room for `scratch_rows` whole rows of each tensor, for generated rows whose
// columns are cut.
//
// Threads: one at a time. Ownership: refers to the table's shape; the buffer is the store's.

#ifndef POSENC_SERVER_RPC_SLICES_ASSEMBLY_BUFFER_H_
#define POSENC_SERVER_RPC_SLICES_ASSEMBLY_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/selection.h"
#include "server/core/table_shape.h"
#include "server/rpc/slices/slice_rows.h"
#include "server/tables/memory/block.h"

namespace posenc {

class AssemblyBuffer {
 public:
  AssemblyBuffer(const TableShape& shape, const SlicePlan& plan, int64_t scratch_rows);

  size_t size_bytes() const { return size_bytes_; }
  void SetMemory(BufferPtr memory) { memory_ = std::move(memory); }

  // Copies `count` rows of `block` that begin at the table's row `row` to the answer's row `to`.
  void CopyRows(const Block& block, int64_t row, int64_t count, int64_t to);

  // Where a generator writes `count` whole rows for the answer's row `to`, for each tensor: the answer
  // itself, or the scratch when columns are cut; StoreGenerated then takes them from there.
  std::vector<std::byte*> GenerationTargets(int64_t to);
  void StoreGenerated(int64_t count, int64_t to);

  // The finished answer.
  RowData Rows() const;

 private:
  struct Part {
    size_t offset = 0;          // of the tensor in the buffer
    size_t scratch_offset = 0;  // of its scratch
    size_t row_bytes = 0;       // of a whole row
    size_t cut_begin = 0;       // bytes of a row before the columns that are kept
    size_t cut_bytes = 0;       // bytes of those columns
  };

  void CopyCut(const Part& part, const std::byte* rows, int64_t count, int64_t to);

  std::vector<Part> parts_;
  int64_t row_count_;
  bool whole_rows_;
  size_t size_bytes_ = 0;
  BufferPtr memory_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SLICES_ASSEMBLY_BUFFER_H_

#include "server/rpc/slices/assembly_buffer.h"

#include <cstring>

namespace posenc {
namespace {

constexpr size_t kAlignmentBytes = 64;

size_t AlignUp(size_t bytes) { return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes; }

}  // namespace

AssemblyBuffer::AssemblyBuffer(const TableShape& shape, const SlicePlan& plan, int64_t scratch_rows)
    : row_count_(plan.row_count()), whole_rows_(plan.whole_rows) {
  for (const TensorShape& tensor : shape.tensors) {
    Part part;
    part.row_bytes = static_cast<size_t>(tensor.row_bytes());
    part.cut_begin = static_cast<size_t>(plan.column_begin * tensor.column_bytes());
    part.cut_bytes = static_cast<size_t>((plan.column_end - plan.column_begin) * tensor.column_bytes());
    part.offset = AlignUp(size_bytes_);
    size_bytes_ = part.offset + part.cut_bytes * static_cast<size_t>(row_count_);
    parts_.push_back(part);
  }
  if (whole_rows_) return;
  for (Part& part : parts_) {
    part.scratch_offset = AlignUp(size_bytes_);
    size_bytes_ = part.scratch_offset + part.row_bytes * static_cast<size_t>(scratch_rows);
  }
}

void AssemblyBuffer::CopyCut(const Part& part, const std::byte* rows, int64_t count, int64_t to) {
  std::byte* out = memory_->bytes().data() + part.offset + static_cast<size_t>(to) * part.cut_bytes;
  if (whole_rows_) {
    std::memcpy(out, rows, static_cast<size_t>(count) * part.row_bytes);
    return;
  }
  for (const std::byte* row = rows + part.cut_begin; count > 0; --count) {
    std::memcpy(out, row, part.cut_bytes);
    row += part.row_bytes;
    out += part.cut_bytes;
  }
}

void AssemblyBuffer::CopyRows(const Block& block, int64_t row, int64_t count, int64_t to) {
  for (size_t t = 0; t < parts_.size(); ++t) {
    const size_t skipped = static_cast<size_t>(row - block.first_row()) * parts_[t].row_bytes;
    CopyCut(parts_[t], block.tensor(t).data() + skipped, count, to);
  }
}

std::vector<std::byte*> AssemblyBuffer::GenerationTargets(int64_t to) {
  std::vector<std::byte*> targets;
  for (const Part& part : parts_) {
    const size_t offset = whole_rows_ ? part.offset + static_cast<size_t>(to) * part.row_bytes
                                      : part.scratch_offset;
    targets.push_back(memory_->bytes().data() + offset);
  }
  return targets;
}

void AssemblyBuffer::StoreGenerated(int64_t count, int64_t to) {
  if (whole_rows_) return;  // they were written in their place
  for (const Part& part : parts_) {
    CopyCut(part, memory_->bytes().data() + part.scratch_offset, count, to);
  }
}

RowData AssemblyBuffer::Rows() const {
  RowData rows;
  for (const Part& part : parts_) {
    const size_t bytes = part.cut_bytes * static_cast<size_t>(row_count_);
    rows.tensors.push_back({{memory_->bytes().subspan(part.offset, bytes), memory_}});
  }
  return rows;
}

}  // namespace posenc

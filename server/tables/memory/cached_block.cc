#include "server/tables/memory/cached_block.h"

#include "server/core/byte_size.h"
#include "server/core/check.h"
#include "server/core/crc32c.h"

namespace posenc {
namespace {

size_t AlignedBytes(const TensorShape& tensor, int64_t rows) {
  return SaturatedRoundUp(SaturatedProduct(rows, tensor.row_bytes()), kBlockAlignmentBytes);
}

}  // namespace

size_t BlockCharge(const Table& table, int64_t index) {
  size_t bytes = 0;
  for (const TensorShape& tensor : table.shape().tensors) {
    bytes = SaturatedSum(bytes, AlignedBytes(tensor, table.RowCount(index)));
  }
  return table.shared() ? ShareableChargeFor(bytes) : ChargeFor(bytes);
}

CachedBlock::CachedBlock(const Table& table, int64_t index, BlockMemory memory)
    : first_row_(table.FirstRow(index)),
      row_count_(table.RowCount(index)),
      memory_(std::move(memory)) {
  Check(memory_.size_bytes() == BlockCharge(table, index), "a block has the memory that it is charged");
  std::byte* next = memory_.data();
  for (const TensorShape& tensor : table.shape().tensors) {
    tensors_.emplace_back(next, static_cast<size_t>(tensor.row_bytes() * row_count_));
    next += AlignedBytes(tensor, row_count_);
  }
}

absl::Status CachedBlock::Generate(const TableGenerator& generator) {
  absl::InlinedVector<std::byte*, 2> out;
  for (const std::span<std::byte> tensor : tensors_) out.push_back(tensor.data());
  generator.Generate(first_row_, row_count_, out);
  return memory_.Seal();
}

uint32_t CachedBlock::crc32c() const {
  absl::call_once(crc_once_, [this] {
    for (const std::span<std::byte> tensor : tensors_) crc_ = ExtendCrc32c(crc_, tensor);
  });
  return crc_;
}

BlockPtr MakeLease(std::shared_ptr<LeaseTaker> store, std::shared_ptr<CachedBlock> block,
                   std::shared_ptr<PeerAccount> peer) {
  const Block* contents = block.get();
  const size_t bytes = block->memory_bytes();
  if (peer != nullptr) peer->held_bytes += bytes;
  return BlockPtr(contents, [store = std::move(store), block = std::move(block), peer = std::move(peer),
                             bytes](const Block*) {
    // First: whoever is admitted because of this finds the account as it is.
    if (peer != nullptr) peer->held_bytes -= bytes;
    // Release: our reads of the block come before its memory is reused. Acquire: so do the others'.
    if (block->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) store->LastHolderLeft(block);
  });
}

}  // namespace posenc

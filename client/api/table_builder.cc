#include "posenc/table_builder.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

// A cache line, and the widest vector.
constexpr uint64_t kAlignment = 64;
// A huge page: from here on memory is aligned to it, so that the kernel can use one.
constexpr uint64_t kHugePage = uint64_t{2} << 20;

// More than any memory, little enough to calculate with.
constexpr uint64_t kMaxBytes = uint64_t{1} << 62;

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

std::shared_ptr<std::byte> AllocateAligned(uint64_t size) {
  const uint64_t alignment = size >= kHugePage ? kHugePage : kAlignment;
  void* memory = std::aligned_alloc(alignment, RoundUp(std::max<uint64_t>(size, 1), alignment));
  if (memory == nullptr) return nullptr;
  // Advice only: without huge pages the table is slower to touch, nothing else.
  if (size >= kHugePage) madvise(memory, size, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(memory), std::free};
}

absl::Status NoBytes(const TensorInfo& tensor) {
  for (int64_t dim : tensor.shape) {
    if (dim < 0) return absl::InvalidArgumentError(absl::StrCat("tensor '", tensor.name, "' has no size"));
  }
  return absl::ResourceExhaustedError(absl::StrCat("tensor '", tensor.name, "' exceeds 2^63 bytes"));
}

}  // namespace

std::optional<int64_t> client_v1::TensorBytes(const TensorInfo& tensor) {
  auto bytes = static_cast<int64_t>(ElementSizeBytes(tensor.element_type));
  for (int64_t dim : tensor.shape) {
    if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes)) return std::nullopt;
  }
  return bytes;
}

absl::StatusOr<TableBuilder> TableBuilder::Allocate(std::string key, std::vector<TensorInfo> tensors,
                                                    uint64_t max_bytes) {
  std::vector<uint64_t> sizes;
  uint64_t total = 0;
  for (const TensorInfo& tensor : tensors) {
    const std::optional<int64_t> bytes = TensorBytes(tensor);
    if (!bytes) return NoBytes(tensor);
    sizes.push_back(static_cast<uint64_t>(*bytes));
    // Each size is below 2^63, so that the sum cannot wrap before it is compared.
    total = RoundUp(total, kAlignment) + sizes.back();
    if (total > std::min(max_bytes, kMaxBytes)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the table has ", total, " bytes or more; allowed here: at most ", max_bytes));
    }
  }
  TableBuilder builder;
  builder.content_ = std::make_shared<Table::Content>();
  builder.content_->memory = AllocateAligned(total);
  if (builder.content_->memory == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a table of ", total, " bytes"));
  }
  std::byte* next = builder.content_->memory.get();
  for (uint64_t size : sizes) {
    builder.content_->data.emplace_back(next, size);
    next += RoundUp(size, kAlignment);
  }
  builder.content_->key = std::move(key);
  builder.content_->tensors = std::move(tensors);
  return builder;
}

Table TableBuilder::Adopt(std::string key, std::vector<TensorInfo> tensors, std::shared_ptr<std::byte> memory,
                          const std::vector<int64_t>& offsets_bytes) {
  auto content = std::make_shared<Table::Content>();
  for (size_t i = 0; i < tensors.size(); ++i) {
    content->data.emplace_back(memory.get() + offsets_bytes[i],
                               static_cast<size_t>(TensorBytes(tensors[i]).value_or(0)));
  }
  content->key = std::move(key);
  content->tensors = std::move(tensors);
  content->memory = std::move(memory);
  return Table(std::move(content));
}

Table TableBuilder::Build() && { return Table(std::move(content_)); }

}  // namespace posenc

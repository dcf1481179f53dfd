// Makes a Table: allocates its memory, lets the maker write the numbers, hands it over.
//
// The connections of this library build their answers with it; so does a test that wants a Table for a
// mocked Connection. A value that moves; not thread-safe, but different tensors may be written by
// different threads.

#ifndef POSENC_TABLE_BUILDER_H_
#define POSENC_TABLE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "posenc/table.h"

namespace posenc {
inline namespace client_v1 {

// Returns the bytes that a tensor's shape and type make, or nothing where a dimension is negative or the
// product exceeds what an int64_t holds.
std::optional<int64_t> TensorBytes(const TensorInfo& tensor);

class TableBuilder {
 public:
  // Allocates memory for the tensors. The numbers begin as zeros only by accident.
  // Errors: InvalidArgument for shapes that are none, ResourceExhausted when the memory is not to be had
  // or exceeds `max_bytes`.
  static absl::StatusOr<TableBuilder> Allocate(std::string key, std::vector<TensorInfo> tensors,
                                               uint64_t max_bytes = UINT64_MAX);

  const std::vector<TensorInfo>& tensors() const { return content_->tensors; }

  // The memory of every tensor, in order; to be written before Build.
  const std::vector<std::span<std::byte>>& data() { return content_->data; }

  // Returns a table whose tensors lie in memory that is there already, each at its offset. The memory is
  // never written through the table and is kept as long as it.
  static Table Adopt(std::string key, std::vector<TensorInfo> tensors, std::shared_ptr<std::byte> memory,
                     const std::vector<int64_t>& offsets_bytes);

  // Returns the table; the builder is empty afterwards.
  Table Build() &&;

 private:
  std::shared_ptr<Table::Content> content_;
};

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_TABLE_BUILDER_H_

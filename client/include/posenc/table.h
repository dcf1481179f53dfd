// A table, or a slice of one, in this process's memory.
//
//   absl::StatusOr<posenc::Table> rope = client.Get(posenc::Rope{.head_dim = 128});
//   std::span<const float> cos = rope->tensor<float>("cos");   // max_len · 64 numbers, row-major
//
// Memory:    one allocation for all tensors; every tensor begins on a 64-byte boundary. From 2 MiB on the
//            kernel is asked for huge pages.
// Ownership: a Table is a handle: copies share the numbers, which live as long as the last copy. Spans do
//            not keep them alive.
// Threads:   the numbers never change; any thread.

#ifndef POSENC_TABLE_H_
#define POSENC_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "posenc/elements.h"

namespace posenc {
inline namespace client_v1 {

// What a tensor is, without its numbers.
struct TensorInfo {
  std::string name = {};  // "table", "cos", "sin", "angles", "bias", "slopes", …
  ElementType element_type = ElementType::kF32;
  std::vector<int64_t> shape = {};
  std::string content_sha256 = {};  // 64 hex digits, where Describe was asked for it

  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

class Table {
 public:
  // A table without tensors, to be assigned to.
  Table() = default;

  // 64 hex digits: the identity of the whole table that this is (a slice of).
  const std::string& key() const { return content().key; }

  // The tensors, in the order of the wire.
  std::span<const TensorInfo> tensors() const { return content().tensors; }

  // Returns the tensor of that name, or null.
  const TensorInfo* Find(std::string_view name) const;

  // Returns the tensor's elements, row-major. A tensor that is not there, or holds elements of another
  // type, gives an empty span; FindTensor says which of the two it was.
  template <typename T>
  std::span<const T> tensor(std::string_view name) const {
    const TensorInfo* info = Find(name);
    if (info == nullptr || info->element_type != ElementTypeOf<T>) return {};
    const std::span<const std::byte> data = bytes(name);
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }

  // Like tensor. Errors: NotFound that lists the names, InvalidArgument that names the element type.
  template <typename T>
  absl::StatusOr<std::span<const T>> FindTensor(std::string_view name) const {
    if (absl::Status status = Check(name, ElementTypeOf<T>); !status.ok()) return status;
    return tensor<T>(name);
  }

  // Return the bytes and the shape of a tensor of any type; empty for one that is not there.
  std::span<const std::byte> bytes(std::string_view name) const;
  std::span<const int64_t> shape(std::string_view name) const;

  // The type of the first tensor's elements: of all tensors, in every family so far. F32 without any.
  ElementType element_type() const;

  // Bytes of all tensors together.
  size_t size_bytes() const;

 private:
  friend class TableBuilder;
  struct Content {
    std::string key;
    std::vector<TensorInfo> tensors;
    std::vector<std::span<std::byte>> data;  // one for each tensor
    std::shared_ptr<std::byte> memory;
  };

  explicit Table(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  const Content& content() const;
  absl::Status Check(std::string_view name, ElementType type) const;

  std::shared_ptr<const Content> content_;
};

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_TABLE_H_

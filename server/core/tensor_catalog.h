// The tensors that specs refer to by name: learned tables and weights of biases.
//
// Filled once at start (server/models reads the files), then read by everything. The elements usually lie
// in a mapped file; whoever holds `owner` keeps them there.
//
// Threads: immutable after it was filled; any thread.

#ifndef POSENC_SERVER_CORE_TENSOR_CATALOG_H_
#define POSENC_SERVER_CORE_TENSOR_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/element_type.h"

namespace posenc {

// A tensor of a checkpoint: row-major, little-endian.
struct StoredTensor {
  ElementType element_type = ElementType::kF32;  // F64, F32, F16, BF16
  std::vector<int64_t> shape = {};
  std::span<const std::byte> data = {};
  std::shared_ptr<const void> owner = {};
  std::string content_sha256 = {};  // of data, 64 hex digits
  std::string source = {};          // file and tensor name, for people
};

class TensorCatalog {
 public:
  // Errors: AlreadyExists for a name that is taken, InvalidArgument for an empty one.
  absl::Status Add(std::string name, StoredTensor tensor);

  // Returns the tensor of that name. Errors: NotFound that lists the names there are; the violation's path
  // is `field`.
  absl::StatusOr<const StoredTensor*> Find(absl::string_view name, absl::string_view field) const;

  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }

 private:
  std::map<std::string, StoredTensor> tensors_;
};

// A catalog without tensors.
const TensorCatalog& EmptyCatalog();

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_TENSOR_CATALOG_H_

// The stored tensors of a server or of an in-process client: which file, which tensor, under which name.
//
// Named on the command line as NAME=FILE.safetensors:TENSOR or NAME=FILE.npy (--learned). A tensor is two-
// dimensional, [rows, width] or [buckets, heads], and real; leading dimensions of 1 (timm's pos_embed) are
// left out. Its data stays in the mapped file, see tensor_file.h.
//
// Threads: pure but for the files. Errors: one line that names the file and the tensor.

#ifndef POSENC_SERVER_MODELS_TENSORS_STORED_TENSORS_H_
#define POSENC_SERVER_MODELS_TENSORS_STORED_TENSORS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/tensor_catalog.h"

namespace posenc {

struct TensorSource {
  std::string name = {};
  std::string file = {};
  std::string tensor = {};  // empty: the only one of the file
};

// Reads NAME=FILE.safetensors:TENSOR, NAME=FILE.safetensors or NAME=FILE.npy.
// Errors: InvalidArgument whose message is what is allowed.
absl::StatusOr<TensorSource> ParseTensorSource(absl::string_view text);

// Opens a file and returns one of its tensors with its digest: reads all of the tensor once.
// Errors: as TensorFile; InvalidArgument for a tensor that is not two-dimensional, empty or not real.
absl::StatusOr<StoredTensor> OpenStoredTensor(const std::string& file, absl::string_view tensor);

// Opens all of them. Errors: the first one's; AlreadyExists for a name that is there twice.
absl::StatusOr<std::shared_ptr<const TensorCatalog>> LoadTensorCatalog(
    const std::vector<TensorSource>& sources);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_TENSORS_STORED_TENSORS_H_

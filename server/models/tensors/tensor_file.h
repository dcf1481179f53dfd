// The tensors of a .safetensors or .npy file, which are untrusted input: everything that a header says is
// checked against the file before a tensor is handed out.
//
//   safetensors   u64 header length, JSON header {name: {dtype, shape, data_offsets}}, data. Offsets count
//                 from the end of the header. (format of huggingface/safetensors)
//   npy           versions 1 to 3, C order, little-endian; one tensor without a name. (NumPy Enhancement
//                 Proposal 1) BF16, which NumPy lacks, is the 2-byte void '<V2' of ml_dtypes.
//
// The files are mapped, not read (mapped_file.h says what must not happen to them meanwhile). A tensor's
// data need not be aligned.
//
// Threads: immutable; any thread. Errors: every message names the file, and the tensor where it is one's.

#ifndef POSENC_SERVER_MODELS_TENSORS_TENSOR_FILE_H_
#define POSENC_SERVER_MODELS_TENSORS_TENSOR_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/element_type.h"
#include "server/core/tensor_catalog.h"

namespace posenc {

// What a header says of one tensor; `begin` and `size_bytes` are within the bytes of the file.
struct TensorEntry {
  std::string name = {};   // empty in a .npy file
  std::string dtype = {};  // as the file spells it
  ElementType element_type = ElementType::kUnspecified;  // kUnspecified: a type that is not read here
  std::vector<int64_t> shape = {};
  uint64_t begin = 0;
  uint64_t size_bytes = 0;
};

// Read the tables of contents of the two formats. Errors: InvalidArgument; messages do not name the file.
absl::StatusOr<std::vector<TensorEntry>> ParseSafetensors(std::span<const std::byte> file);
absl::StatusOr<std::vector<TensorEntry>> ParseNpy(std::span<const std::byte> file);

class MappedFile;

class TensorFile {
 public:
  // The format is told by the end of the name. Errors: NotFound for a missing file, InvalidArgument for a
  // malformed one or another format.
  static absl::StatusOr<TensorFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<TensorEntry>& tensors() const { return tensors_; }

  // Returns a tensor without its content_sha256; it keeps the file mapped. An empty name means the only
  // tensor of the file.
  // Errors: NotFound for a name that the file does not have, with those it has; InvalidArgument for an
  // element type that is not read here, and for an empty name where there are several.
  absl::StatusOr<StoredTensor> Get(absl::string_view name) const;

 private:
  std::string path_;
  std::vector<TensorEntry> tensors_;
  std::shared_ptr<const MappedFile> file_;
};

// Returns "name F32 [512, 768]", for messages and lists.
std::string DescribeTensor(const TensorEntry& entry);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_TENSORS_TENSOR_FILE_H_

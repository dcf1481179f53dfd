#include "server/models/tensors/stored_tensors.h"

#include <openssl/evp.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/models/tensors/tensor_file.h"

namespace posenc {
namespace {

constexpr absl::string_view kSafetensors = ".safetensors";
constexpr absl::string_view kAllowed = "NAME=FILE.safetensors:TENSOR or NAME=FILE.npy";

std::string Sha256Of(std::span<const std::byte> bytes) {
  std::string digest(32, '\0');
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
             EVP_sha256(), nullptr);
  return absl::BytesToHexString(digest);
}

absl::Status CheckTable(StoredTensor& tensor) {
  const std::string shape = absl::StrJoin(tensor.shape, ", ");
  while (tensor.shape.size() > 2 && tensor.shape.front() == 1) tensor.shape.erase(tensor.shape.begin());
  if (tensor.shape.size() != 2 || tensor.data.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(tensor.source, " has the shape [", shape,
                                                   "]; allowed: two dimensions, neither of them 0"));
  }
  if (tensor.element_type > ElementType::kBF16) {
    return absl::InvalidArgumentError(absl::StrCat(tensor.source, " is of type ",
                                                   ElementTypeName(tensor.element_type),
                                                   "; allowed: F64, F32, F16, BF16"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TensorSource> ParseTensorSource(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos || equals == 0) return absl::InvalidArgumentError(kAllowed);
  TensorSource source{.name = std::string(text.substr(0, equals)), .file = std::string(text.substr(equals + 1))};
  const size_t end = source.file.find(absl::StrCat(kSafetensors, ":"));
  if (end != std::string::npos) {
    source.tensor = source.file.substr(end + kSafetensors.size() + 1);
    source.file.resize(end + kSafetensors.size());
    if (source.tensor.empty()) return absl::InvalidArgumentError(kAllowed);
  }
  const bool known = absl::EndsWithIgnoreCase(source.file, kSafetensors) ||
                     absl::EndsWithIgnoreCase(source.file, ".npy");
  if (!known) return absl::InvalidArgumentError(kAllowed);
  return source;
}

absl::StatusOr<StoredTensor> OpenStoredTensor(const std::string& file, absl::string_view tensor) {
  const absl::StatusOr<TensorFile> opened = TensorFile::Open(file);
  if (!opened.ok()) return opened.status();
  absl::StatusOr<StoredTensor> stored = opened->Get(tensor);
  if (!stored.ok()) return stored;
  if (absl::Status status = CheckTable(*stored); !status.ok()) return status;
  stored->content_sha256 = Sha256Of(stored->data);
  return stored;
}

absl::StatusOr<std::shared_ptr<const TensorCatalog>> LoadTensorCatalog(
    const std::vector<TensorSource>& sources) {
  auto catalog = std::make_shared<TensorCatalog>();
  for (const TensorSource& source : sources) {
    absl::StatusOr<StoredTensor> tensor = OpenStoredTensor(source.file, source.tensor);
    if (!tensor.ok()) return tensor.status();
    if (absl::Status added = catalog->Add(source.name, *std::move(tensor)); !added.ok()) return added;
  }
  return catalog;
}

}  // namespace posenc

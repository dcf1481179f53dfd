#include "server/models/tensors/tensor_file.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/models/config/config_json.h"
#include "server/models/tensors/mapped_file.h"

namespace posenc {
namespace {

// Tensors that a message lists; a checkpoint has hundreds.
constexpr size_t kMaxListed = 12;

absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

absl::StatusOr<std::vector<TensorEntry>> Parse(const std::string& path, std::span<const std::byte> bytes) {
  if (absl::EndsWithIgnoreCase(path, ".safetensors")) return ParseSafetensors(bytes);
  if (absl::EndsWithIgnoreCase(path, ".npy")) return ParseNpy(bytes);
  return absl::InvalidArgumentError("is of no known format; allowed: .safetensors, .npy");
}

std::string List(const std::vector<TensorEntry>& tensors) {
  const size_t shown = std::min(tensors.size(), kMaxListed);
  const std::string names = absl::StrJoin(
      tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(shown), ", ",
      [](std::string* out, const TensorEntry& entry) { out->append(DescribeTensor(entry)); });
  if (tensors.empty()) return "none";
  return tensors.size() == shown ? names : absl::StrCat(names, " and ", tensors.size() - shown, " more");
}

}  // namespace

absl::StatusOr<TensorFile> TensorFile::Open(const std::string& path) {
  TensorFile file;
  file.path_ = path;
  absl::StatusOr<std::shared_ptr<const MappedFile>> mapped = MappedFile::Open(path);
  if (!mapped.ok()) return WithPath(path, mapped.status());
  file.file_ = *std::move(mapped);
  absl::StatusOr<std::vector<TensorEntry>> tensors = Parse(path, file.file_->bytes());
  if (!tensors.ok()) return WithPath(path, tensors.status());
  file.tensors_ = *std::move(tensors);
  return file;
}

absl::StatusOr<StoredTensor> TensorFile::Get(absl::string_view name) const {
  if (name.empty() && tensors_.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": say which tensor; it has ", List(tensors_)));
  }
  const auto entry = std::find_if(tensors_.begin(), tensors_.end(), [&](const TensorEntry& each) {
    return name.empty() || each.name == name;
  });
  if (entry == tensors_.end()) {
    return absl::NotFoundError(absl::StrCat(path_, " has no tensor ", Quote(name), "; it has ", List(tensors_)));
  }
  if (entry->element_type == ElementType::kUnspecified) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": tensor ", Quote(entry->name), " is of type ",
                                                   Quote(entry->dtype), "; allowed: F64, F32, F16, BF16, I32, C64"));
  }
  return StoredTensor{.element_type = entry->element_type,
                      .shape = entry->shape,
                      .data = file_->bytes().subspan(entry->begin, entry->size_bytes),
                      .owner = file_,
                      .source = entry->name.empty() ? path_ : absl::StrCat(path_, ":", entry->name)};
}

std::string DescribeTensor(const TensorEntry& entry) {
  return absl::StrCat(entry.name.empty() ? "" : PathPart(entry.name) + " ", entry.dtype, " [",
                      absl::StrJoin(entry.shape, ", "), "]");
}

}  // namespace posenc

#include "server/core/tensor_catalog.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/violations.h"

namespace posenc {

absl::Status TensorCatalog::Add(std::string name, StoredTensor tensor) {
  if (name.empty()) return absl::InvalidArgumentError("a stored tensor needs a name");
  const auto [place, added] = tensors_.emplace(std::move(name), std::move(tensor));
  if (added) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("the name '", place->first, "' is taken by ", place->second.source));
}

absl::StatusOr<const StoredTensor*> TensorCatalog::Find(absl::string_view name,
                                                        absl::string_view field) const {
  const auto found = tensors_.find(std::string(name));
  if (found != tensors_.end()) return &found->second;
  const std::string names = absl::StrJoin(tensors_, ", ", [](std::string* out, const auto& item) {
    absl::StrAppend(out, item.first);
  });
  Violations bad;
  bad.Add(field, absl::StrCat("'", name, "'"),
          tensors_.empty() ? "none, the server was started without stored tensors (--learned)" : names);
  return bad.ToStatus(absl::StatusCode::kNotFound);
}

const TensorCatalog& EmptyCatalog() {
  static const auto* const catalog = new TensorCatalog();
  return *catalog;
}

}  // namespace posenc

#include "posenc/table.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace posenc {

const Table::Content& Table::content() const {
  static const Content* const kEmpty = new Content();
  return content_ ? *content_ : *kEmpty;
}

const TensorInfo* Table::Find(std::string_view name) const {
  for (const TensorInfo& tensor : tensors()) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

std::span<const std::byte> Table::bytes(std::string_view name) const {
  const TensorInfo* info = Find(name);
  if (info == nullptr) return {};
  return content().data[info - content().tensors.data()];
}

std::span<const int64_t> Table::shape(std::string_view name) const {
  const TensorInfo* info = Find(name);
  return info == nullptr ? std::span<const int64_t>() : info->shape;
}

ElementType Table::element_type() const {
  return tensors().empty() ? ElementType::kF32 : tensors().front().element_type;
}

size_t Table::size_bytes() const {
  size_t total = 0;
  for (std::span<const std::byte> data : content().data) total += data.size();
  return total;
}

absl::Status Table::Check(std::string_view name, ElementType type) const {
  const TensorInfo* info = Find(name);
  if (info == nullptr) {
    const auto names = absl::StrJoin(tensors(), ", ", [](std::string* out, const TensorInfo& tensor) {
      out->append(tensor.name);
    });
    return absl::NotFoundError(
        absl::StrCat("no tensor '", std::string(name), "'; this table has: ", names));
  }
  if (info->element_type != type) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor '", info->name, "' has ", ElementTypeName(info->element_type),
        " elements; asked for as ", ElementTypeName(type)));
  }
  return absl::OkStatus();
}

}  // namespace posenc

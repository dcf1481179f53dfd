#include "client/remote/destinations.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "posenc/table_builder.h"

namespace posenc {

absl::StatusOr<std::vector<std::span<std::byte>>> AskForDestinations(const StreamParams& params,
                                                                     const SliceInfo& slice) {
  if (!params.destinations) return std::vector<std::span<std::byte>>();
  auto destinations = params.destinations(slice);
  if (!destinations.ok()) return destinations.status();
  if (destinations->size() != slice.tensors.size()) {
    return absl::InvalidArgumentError(absl::StrCat(destinations->size(), " destinations; needed: ",
                                                   slice.tensors.size(), ", one for each tensor"));
  }
  for (size_t i = 0; i < destinations->size(); ++i) {
    const int64_t bytes = TensorBytes(slice.tensors[i]).value_or(-1);
    const size_t given = (*destinations)[i].size();
    if (static_cast<int64_t>(given) == bytes) continue;
    return absl::InvalidArgumentError(absl::StrCat("destination of '", slice.tensors[i].name, "' has ",
                                                   given, " bytes; needed: ", bytes));
  }
  return destinations;
}

}  // namespace posenc

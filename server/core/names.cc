#include "server/core/names.h"

namespace posenc {

std::vector<absl::string_view> AllFamilyNames() {
  std::vector<absl::string_view> names;
  ForEachAlternative<FamilySpec>([&](const auto& family) { names.push_back(family.kName); });
  return names;
}

}  // namespace posenc

#include "server/models/families/model_families.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "server/models/families/model_family_rows.h"

namespace posenc {

std::span<const ModelFamily* const> AllFamilies() {
  static const auto* const kAll = [] {
    auto* const rows = new std::vector<const ModelFamily*>;
    for (const auto part : {FamiliesAToF(), FamiliesGToL(), FamiliesMToP(), FamiliesQToZ()}) {
      for (const ModelFamily& family : part) rows->push_back(&family);
    }
    return rows;
  }();
  return *kAll;
}

const ModelFamily* FindFamily(absl::string_view model_type) {
  const auto find = [](absl::string_view name) -> const ModelFamily* {
    for (const ModelFamily* family : AllFamilies()) {
      if (family->model_type == name) return family;
    }
    return nullptr;
  };
  if (const ModelFamily* family = find(model_type)) return family;
  absl::ConsumeSuffix(&model_type, "_model");
  absl::ConsumeSuffix(&model_type, "_text");
  return find(model_type);
}

const ModelFamily& UnknownFamily() {
  static constexpr ModelFamily kUnknown = {};
  return kUnknown;
}

}  // namespace posenc

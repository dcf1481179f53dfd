#include "server/models/families/model_families.h"

#include <map>
#include <vector>

#include "absl/strings/strip.h"
#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

using FamilyIndex = std::map<absl::string_view, const ModelFamily*>;

const FamilyIndex& Index() {
  static const auto* const kIndex = [] {
    auto* const index = new FamilyIndex;
    for (const ModelFamily* family : AllFamilies()) (*index)[family->model_type] = family;
    for (const FamilyAlias& alias : FamilyAliases()) index->emplace(alias.name, index->at(alias.model_type));
    return index;
  }();
  return *kIndex;
}

}  // namespace

std::span<const ModelFamily* const> AllFamilies() {
  static const auto* const kAll = [] {
    auto* const rows = new std::vector<const ModelFamily*>;
    for (const auto part :
         {AbsoluteFamilies(), AxesFamilies(), BiasedFamilies(), HybridFamilies(), InterleavedFamilies(),
          LatentFamilies(), LayeredFamilies(), LearnedFamilies(), PartialFamilies(), PlainFamilies(), ScaledFamilies(),
          WithoutFamilies()}) {
      for (const ModelFamily& family : part) rows->push_back(&family);
    }
    return rows;
  }();
  return *kAll;
}

const ModelFamily* FindFamily(absl::string_view model_type) {
  const auto find = [](absl::string_view name) -> const ModelFamily* {
    const auto found = Index().find(name);
    return found == Index().end() ? nullptr : found->second;
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

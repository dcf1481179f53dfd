// Names of model_type that mean the family of another row: forks, wrappers that keep their text model's keys at the
// top, text models under a private name.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

constexpr FamilyAlias kAliases[] = {
    {"deepseek_vl_v2", "deepseek_v2"},
};

}  // namespace

std::span<const FamilyAlias> FamilyAliases() { return kAliases; }

}  // namespace posenc

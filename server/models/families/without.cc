// Families without any positional table.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

using enum PositionRule;

constexpr ModelFamily kRows[] = {
    {.model_type = "falcon_mamba", .class_name = "FalconMambaConfig", .rule = kNone},
    {.model_type = "jamba", .class_name = "JambaConfig", .rule = kNone},
    {.model_type = "mamba", .class_name = "MambaConfig", .rule = kNone},
    {.model_type = "mamba2", .class_name = "Mamba2Config", .rule = kNone},
    {.model_type = "nemotron_h", .class_name = "NemotronHConfig", .rule = kNone},
    {.model_type = "rwkv", .class_name = "RwkvConfig", .rule = kNone},
    {.model_type = "zamba", .class_name = "ZambaConfig", .rule = kNone},
};

}  // namespace

std::span<const ModelFamily> WithoutFamilies() { return kRows; }

}  // namespace posenc

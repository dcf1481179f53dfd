#include "server/models/runtime_rules.h"

namespace posenc {

void ApplyRuntimeRules(RopeDraft&) {}

}  // namespace posenc

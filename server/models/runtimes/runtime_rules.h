// Where other runtimes make another table of the same file than transformers does.
//
// All differences stand in runtime_rules.cc, one row for each: whose it is, the version that was read, and
// what it changes in a table that was read by transformers' rules. Threads: pure functions.

#ifndef POSENC_SERVER_MODELS_RUNTIMES_RUNTIME_RULES_H_
#define POSENC_SERVER_MODELS_RUNTIMES_RUNTIME_RULES_H_

#include "server/models/rotary/rope_draft.h"

namespace posenc {

// Changes the draft to what its scope's runtime makes of the file; each change is recorded as an origin or
// a note that names the runtime and its version.
void ApplyRuntimeRules(RopeDraft& rope);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_RUNTIMES_RUNTIME_RULES_H_

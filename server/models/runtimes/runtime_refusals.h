// Files that a runtime refuses to load: which key, and the exception's place in its source. Pure functions.

#ifndef POSENC_SERVER_MODELS_RUNTIMES_RUNTIME_REFUSALS_H_
#define POSENC_SERVER_MODELS_RUNTIMES_RUNTIME_REFUSALS_H_

#include "server/models/rotary/rope_draft.h"

namespace posenc {

// Adds what the draft's runtime raises for to the reading, as not served; the draft's spec is read whole.
void AddRuntimeRefusals(RopeDraft& rope);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_RUNTIMES_RUNTIME_REFUSALS_H_

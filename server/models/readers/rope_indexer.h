// The rotary table of a sparse attention's indexer (DeepSeek V3.2, GLM-5). Pure functions.

#ifndef POSENC_SERVER_MODELS_READERS_ROPE_INDEXER_H_
#define POSENC_SERVER_MODELS_READERS_ROPE_INDEXER_H_

#include "server/models/rotary/rope_draft.h"

namespace posenc {

// Adds the indexer's table to the reading, where the draft's family has one: base, scaling and rotated width
// are those of the attention, width of the head and pairing its own. The draft stays as it is.
void FinishIndexer(const RopeDraft& rope);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_READERS_ROPE_INDEXER_H_

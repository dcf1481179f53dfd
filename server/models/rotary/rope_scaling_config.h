// The scaling block of a rotary table: rope_scaling (transformers v4) or rope_parameters (v5), or one
// layer type's part of it.
//
// The types are rows of one list in rope_scaling_config.cc: serving one more is a function and its row.
// Pure functions.

#ifndef POSENC_SERVER_MODELS_ROTARY_ROPE_SCALING_CONFIG_H_
#define POSENC_SERVER_MODELS_ROTARY_ROPE_SCALING_CONFIG_H_

#include "server/models/rotary/rope_draft.h"

namespace posenc {

// Reads the scaling that the draft's block asks for into its spec. An empty block, and one of type
// "default", is no scaling. A type that is wrong or not served, and a missing or wrong key, is added to the
// reading.
void ReadRopeScaling(RopeDraft& rope);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ROTARY_ROPE_SCALING_CONFIG_H_

// How wide a head is and how much of it rotates, by the file's keys and the family's rules. Pure functions.

#ifndef POSENC_SERVER_MODELS_READERS_ROPE_WIDTHS_H_
#define POSENC_SERVER_MODELS_READERS_ROPE_WIDTHS_H_

#include "server/models/rotary/rope_layers.h"

namespace posenc {

// Whether the model has multi-head latent attention: its family has, and the file does not say otherwise
// (use_mla false, or no rotated slice).
bool UsesMla(const ModelScope& scope);

// Returns the width of a head of that layer; a violation and some width where nothing says it.
Found<int64_t> ReadHeadDim(const ModelScope& scope, const Layer& layer, Reading& reading);

// Returns how many channels of a head rotate. Keys that contradict each other become a note.
Found<int64_t> ReadRotaryDim(const ModelScope& scope, const Layer& layer, int64_t head_dim, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_READERS_ROPE_WIDTHS_H_

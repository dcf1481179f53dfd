// Position axes of a rotary table: mrope_section, xdrope_section, and what a family has without them.
// Pure functions.

#ifndef POSENC_SERVER_MODELS_ROTARY_ROPE_AXES_CONFIG_H_
#define POSENC_SERVER_MODELS_ROTARY_ROPE_AXES_CONFIG_H_

#include "server/models/rotary/rope_draft.h"

namespace posenc {

// Reads the axes that the draft's block or its family asks for into the spec; a list that is wrong is added
// to the reading.
void ReadRopeAxes(RopeDraft& rope);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ROTARY_ROPE_AXES_CONFIG_H_

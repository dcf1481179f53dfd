// Bases and shares that a file gives by layer, and the groups of layers that they make. Pure functions.

#ifndef POSENC_SERVER_MODELS_ROTARY_LAYER_LISTS_H_
#define POSENC_SERVER_MODELS_ROTARY_LAYER_LISTS_H_

#include <vector>

#include "server/models/rotary/rope_layers.h"

namespace posenc {

// Whether the file has a list by layer where others have one number.
bool HasLayerLists(const ModelScope& scope);

// Returns one table for each group of layers that rotate alike, in order of their first layer. `block` is the
// scaling of those layers to which the file does not deny it. A list that does not fit the layers is added to
// the reading.
std::vector<Layer> LayersByLists(const ModelScope& scope, LayerPlan plan, const ConfigObject& block,
                                 Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ROTARY_LAYER_LISTS_H_

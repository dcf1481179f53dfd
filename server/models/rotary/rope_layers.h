// Which rotary tables a model has: one, or one for each kind of layer. Pure functions.

#ifndef POSENC_SERVER_MODELS_ROTARY_ROPE_LAYERS_H_
#define POSENC_SERVER_MODELS_ROTARY_ROPE_LAYERS_H_

#include <optional>
#include <string>
#include <vector>

#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"
#include "server/models/rotary/layer_plan.h"

namespace posenc {

// One table to read.
struct Layer {
  std::string name;            // "main", or the kind of layer
  ConfigObject block;          // its part of rope_scaling or rope_parameters
  bool sliding = false;        // it is the table of the layers with a sliding window
  bool nested = false;         // the block is one layer type's part of a larger one
  std::string applies_to = {};  // which layers; empty: all
  std::vector<int64_t> layers = {};  // the same as indices
  // What the file's lists by layer say of these layers.
  std::optional<Found<double>> base = {};
  std::optional<Found<double>> fraction = {};
};

// Returns the tables that the file asks for: the parts of its parameters where those are split by layer
// type, one for each group of layers where it has lists by layer, two where the family has a table of its own
// for layers with a sliding window, one otherwise; none where no layer rotates.
std::vector<Layer> LayersOf(const ModelScope& scope, const LayerPlan& plan, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ROTARY_ROPE_LAYERS_H_

// The scaling block of a rotary table: rope_scaling (transformers v4) or rope_parameters (v5), or one
// layer type's part of it.
//
// The types are rows of one list in rope_scaling_config.cc, those that are not served included: serving
// one more is a function and its name in that row. Pure functions.

#ifndef POSENC_SERVER_MODELS_ROPE_SCALING_CONFIG_H_
#define POSENC_SERVER_MODELS_ROPE_SCALING_CONFIG_H_

#include "server/core/rope_spec.h"
#include "server/models/table_draft.h"

namespace posenc {

// Reads the scaling that `block` asks for and records its values in `draft`. An empty block, and one of
// type "default", is no scaling; but an empty block has the type `default_type` where that is not empty. A
// type that is wrong or not served, and a missing or wrong key, is added to `reading`.
RopeScaling ReadRopeScaling(const ModelScope& scope, const ConfigObject& block,
                            absl::string_view default_type, TableDraft& draft, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ROPE_SCALING_CONFIG_H_

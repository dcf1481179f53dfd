// Rotary tables of a config.json: widths, base, length and scaling, by transformers' rules.
//
// A model has one table ("main"), or one for each layer type where its rope_parameters are given by layer
// type or its family has an own table for layers with a sliding window. Pure functions.

#ifndef POSENC_SERVER_MODELS_READERS_ROPE_CONFIG_H_
#define POSENC_SERVER_MODELS_READERS_ROPE_CONFIG_H_

#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"

namespace posenc {

// Adds the model's rotary tables to `reading`, or what hinders them.
void ReadRopeTables(const ModelScope& scope, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_READERS_ROPE_CONFIG_H_

// Positional tables of diffusers' models: axes of rotary transformers, grids of patches, timesteps.
//
// A file of diffusers has no model_type but _class_name. One row per class in diffusers_config.cc. Pure
// functions.

#ifndef POSENC_SERVER_MODELS_DIFFUSERS_DIFFUSERS_CONFIG_H_
#define POSENC_SERVER_MODELS_DIFFUSERS_DIFFUSERS_CONFIG_H_

#include "server/models/answer/table_draft.h"

namespace posenc {

// Whether a file is one of diffusers.
bool IsDiffusersConfig(const ConfigObject& root);

// Adds the tables of the file's class to `reading`. A class that is not in the list is answered from the
// keys that give the widths of axes, or added to `reading` as not served. Returns whether it is in the list.
bool ReadDiffusersTables(const ConfigObject& root, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_DIFFUSERS_DIFFUSERS_CONFIG_H_

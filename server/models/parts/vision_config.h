// Positional tables of the vision and audio parts of larger models, and of models that are nothing else.
//
// One row per model_type in vision_config.cc; a part without a model_type has the row of the model around
// it. Tables are called "vision…" and "audio". Pure functions.

#ifndef POSENC_SERVER_MODELS_PARTS_VISION_CONFIG_H_
#define POSENC_SERVER_MODELS_PARTS_VISION_CONFIG_H_

#include "server/models/answer/table_draft.h"

namespace posenc {

// Whether `model_type` is that of a vision or audio model of the list.
bool IsVisionModel(absl::string_view model_type);

// Adds the tables of the file's vision_config and audio_config to `reading`. What is not in the list
// becomes a note.
void ReadVisionTables(const ConfigObject& root, absl::string_view model_type, Reading& reading);

// Adds the tables of a file that is a vision model's own. Requires: IsVisionModel(model_type).
void ReadVisionModel(const ConfigObject& root, absl::string_view model_type, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_PARTS_VISION_CONFIG_H_

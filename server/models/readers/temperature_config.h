// Factors on queries by their position: Llama 4, Ministral 3. Pure functions.

#ifndef POSENC_SERVER_MODELS_READERS_TEMPERATURE_CONFIG_H_
#define POSENC_SERVER_MODELS_READERS_TEMPERATURE_CONFIG_H_

#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"

namespace posenc {

// Adds the table of the model's query temperature to `reading`, where it has one.
void ReadQueryTemperature(const ModelScope& scope, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_READERS_TEMPERATURE_CONFIG_H_

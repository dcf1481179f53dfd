// ALiBi tables of a config.json (BLOOM, MPT, Falcon's and Baichuan's larger models, Refact). Pure functions.

#ifndef POSENC_SERVER_MODELS_READERS_ALIBI_CONFIG_H_
#define POSENC_SERVER_MODELS_READERS_ALIBI_CONFIG_H_

#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"

namespace posenc {

// Whether a model of this family and file has ALiBi.
bool UsesAlibi(const ModelScope& scope, Reading& reading);

// Adds the model's ALiBi table to `reading`, or what hinders it.
void ReadAlibiTable(const ModelScope& scope, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_READERS_ALIBI_CONFIG_H_

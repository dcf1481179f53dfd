// Buckets of relative distances: T5 and its kin, MPNet, DeBERTa. Pure functions.

#ifndef POSENC_SERVER_MODELS_READERS_RELATIVE_CONFIG_H_
#define POSENC_SERVER_MODELS_READERS_RELATIVE_CONFIG_H_

#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"

namespace posenc {

// Adds the maps of buckets of a family like T5's to `reading`, one for the encoder and one for the decoder.
void ReadT5Buckets(const ModelScope& scope, Reading& reading);

// Adds the map of buckets of a family like DeBERTa's to `reading`.
void ReadDebertaBuckets(const ModelScope& scope, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_READERS_RELATIVE_CONFIG_H_

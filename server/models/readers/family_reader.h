// The tables of a model by its family: which reader it needs, and what its answer notes. Pure functions.

#ifndef POSENC_SERVER_MODELS_READERS_FAMILY_READER_H_
#define POSENC_SERVER_MODELS_READERS_FAMILY_READER_H_

#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"

namespace posenc {

// Whether a key of the object shows that its model rotates.
bool HasRotaryKey(const ConfigObject& object);

// Adds the tables of the scope's model to `reading`, or what hinders them. A family that is not known is
// answered from the keys of its file; without any key that shows rotation it is added as not served.
void ReadFamilyTables(const ModelScope& scope, Reading& reading);

// Adds a note for each key of `object` that has to do with positions and that nobody has read, those inside of
// its scaling blocks included.
void NoteUnreadKeys(const ConfigObject& object, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_READERS_FAMILY_READER_H_

// Tables that are added to the input by position: learned ones, and fixed sines and cosines.
//
// A learned table's numbers stand in the checkpoint, so the spec names the tensor as checkpoints usually
// do; the server must have been given it under that name. Pure functions.

#ifndef POSENC_SERVER_MODELS_READERS_ABSOLUTE_CONFIG_H_
#define POSENC_SERVER_MODELS_READERS_ABSOLUTE_CONFIG_H_

#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"

namespace posenc {

// Adds a learned table to `reading`: of the tensor `name`, with `position_offset` rows before position 0.
// `rows` are those of positions; 0: not known.
void AddLearnedTable(TableDraft draft, absl::string_view name, const Found<int64_t>& position_offset,
                     int64_t rows, Reading& reading);

// Adds the family's learned table to `reading`, or what hinders it.
void ReadLearnedTable(const ModelScope& scope, Reading& reading);

// Adds the family's table of sines and cosines to `reading`, or what hinders it.
void ReadSinusoidalTable(const ModelScope& scope, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_READERS_ABSOLUTE_CONFIG_H_

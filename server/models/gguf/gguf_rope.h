// Rotary tables of a GGUF file, by llama.cpp's rules. Pure functions.

#ifndef POSENC_SERVER_MODELS_GGUF_GGUF_ROPE_H_
#define POSENC_SERVER_MODELS_GGUF_GGUF_ROPE_H_

#include "server/models/gguf/gguf_keys.h"

namespace posenc {

// Adds the file's rotary tables to the reading of `keys`, or what hinders them: one, or one for the layers with
// a sliding window and one for the others, and that of a sparse attention's indexer. `known`: the architecture
// is in the list.
void ReadGgufRope(const GgufKeys& keys, const GgufArchitecture& row, bool known, const ModelQuery& query);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_GGUF_GGUF_ROPE_H_

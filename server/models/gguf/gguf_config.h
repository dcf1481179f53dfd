// Positional tables of a GGUF file, from its metadata as JSON (gguf.h).
//
// Rules: llama.cpp's. A GGUF file does not say how channels pair; that is a switch over the architecture,
// one row for each in gguf_architectures.cc. Pure functions.

#ifndef POSENC_SERVER_MODELS_GGUF_GGUF_CONFIG_H_
#define POSENC_SERVER_MODELS_GGUF_GGUF_CONFIG_H_

#include "absl/status/statusor.h"
#include "server/models/answer/model_tables.h"

namespace posenc {

// Reads the metadata of a GGUF file. Errors: as ResolveModel, with paths like "gguf_json.metadata.llama…".
absl::StatusOr<ModelTables> ResolveGguf(const ModelQuery& query);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_GGUF_GGUF_CONFIG_H_

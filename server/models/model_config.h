// What a model's own file means: which positional-encoding tables the model needs, and where every value
// came from.
//
// Rules: Hugging Face transformers' (v4 and v5 keys, class defaults), for the families in the list of
// families/; where another runtime reads the same file in its own way, by that runtime's rules. A
// family that is not in the list is answered with what is certain from its keys, and the notes say what
// is not.
//
// Threads: pure functions. Ownership: everything is a value.

#ifndef POSENC_SERVER_MODELS_MODEL_CONFIG_H_
#define POSENC_SERVER_MODELS_MODEL_CONFIG_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/models/answer/model_tables.h"

namespace posenc {

// Reads a model's file by a runtime's rules; a GGUF file always by llama.cpp's, but for the axes that
// llama.cpp has of its own.
// Errors: as ResolveModelConfig; InvalidArgument also for an effective_length out of range. Unimplemented
// also for a scaling that the runtime refuses.
absl::StatusOr<ModelTables> ResolveModel(const ModelQuery& query);

// Reads the text of a config.json by transformers' rules.
// Errors: InvalidArgument for text that is not JSON or not an object (with the place), for a value of the
// wrong kind or out of range and for a missing key that has no default (field violations with the file's
// own key path, e.g. "rope_scaling.factor"); Unimplemented for a scaling or position type that is known
// but not served, named, and for an unknown model_type without any key of a rotary encoding.
absl::StatusOr<ModelTables> ResolveModelConfig(absl::string_view config_json);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_MODEL_CONFIG_H_

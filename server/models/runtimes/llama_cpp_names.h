// The architectures of llama.cpp that its converter makes of transformers' families. Constant data.

#ifndef POSENC_SERVER_MODELS_RUNTIMES_LLAMA_CPP_NAMES_H_
#define POSENC_SERVER_MODELS_RUNTIMES_LLAMA_CPP_NAMES_H_

#include <span>

#include "absl/strings/string_view.h"

namespace posenc {

struct LlamaCppName {
  absl::string_view model_type;
  absl::string_view architecture;
  bool interleaved;  // its rope type pairs neighbours (NORM); the converter permutes weights that are not so
};

// Returns the row of a family's model_type, or null where no converter of it is known.
const LlamaCppName* FindLlamaCppName(absl::string_view model_type);

std::span<const LlamaCppName> AllLlamaCppNames();

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_RUNTIMES_LLAMA_CPP_NAMES_H_

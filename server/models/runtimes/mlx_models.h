// What the model files of mlx-lm do with a scaling block. Constant data.

#ifndef POSENC_SERVER_MODELS_RUNTIMES_MLX_MODELS_H_
#define POSENC_SERVER_MODELS_RUNTIMES_MLX_MODELS_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"

namespace posenc {

enum class MlxScaling : uint8_t {
  kAll,              // by initialize_rope of rope_utils.py, which raises for what it has not
  kIgnored,          // the block is not read
  kLinearDynamic,    // raises for other types
  kLinearOnly,       // raises for other types
  kLinearElsePlain,  // others are ignored
  kAlwaysYarn,       // any block is taken for YaRN
  kAlwaysLong,       // any block is taken for longrope
  kAlpha,            // needs alpha
  kPhi3,             // longrope, su and linear; others are dropped with a warning
  kNoRotation,
};

struct MlxModel {
  absl::string_view model_type;  // as files have it; what MODEL_REMAPPING maps has a row too
  MlxScaling scaling;
  double base;  // where the file has no rope_theta at its top; negative: it must have one; 0: found in another way
};

// Returns the row of a model_type, or null where mlx-lm has no file for it.
const MlxModel* FindMlxModel(absl::string_view model_type);

std::span<const MlxModel> AllMlxModels();

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_RUNTIMES_MLX_MODELS_H_

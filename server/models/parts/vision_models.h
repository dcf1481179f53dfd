// The list of vision and audio models: what their part of a config.json means where it is silent.
//
// One row per model_type, in vision_models.cc; the values are those of the configuration class in
// transformers. Threads: constant data.

#ifndef POSENC_SERVER_MODELS_PARTS_VISION_MODELS_H_
#define POSENC_SERVER_MODELS_PARTS_VISION_MODELS_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"
#include "server/models/answer/model_tables.h"

namespace posenc {

enum class VisionRule : uint8_t {
  kRows,        // rotary, half the pairs by row and half by column; the picture decides the grid (Qwen-VL)
  kEvenOdd,     // rotary, even pairs by row, odd ones by column, over the largest picture (Pixtral)
  kColumns,     // rotary, column before row, counted from 1, a class token after the patches (Llama 4)
  kCentred,     // rotary, coordinates from -1 to 1 (DINOv3)
  kOwnHalves,   // rotary, each axis half-split inside its own half of the head (Gemma 4)
  kMemory,      // rotary of the attention to memory, column before row (SAM 2)
  kLearned,     // a table among the weights
  kEncoder,     // audio: sines and cosines (Whisper)
  kNone,        // nothing that a table could hold
};

struct VisionModel {
  absl::string_view model_type;
  absl::string_view class_name;
  VisionRule rule = VisionRule::kRows;
  Pairing pairing = Pairing::kHalfSplit;
  int64_t hidden_size = 0;
  int64_t heads = 0;
  int64_t image_size = 0;
  int64_t patch_size = 0;
  double base = 10000.0;
  absl::string_view tensor = "";  // kLearned
  absl::string_view note = "";
};

// Returns the row of `model_type`, or null. "_vision", "_vision_model" and "_vision_encoder" at its end count for
// nothing.
const VisionModel* FindVisionModel(absl::string_view model_type);

std::span<const VisionModel> AllVisionModels();

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_PARTS_VISION_MODELS_H_

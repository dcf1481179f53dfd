// The keys of config.json files that several readers share, with all their spellings.
//
// Threads: constant data.

#ifndef POSENC_SERVER_MODELS_CONFIG_CONFIG_KEYS_H_
#define POSENC_SERVER_MODELS_CONFIG_CONFIG_KEYS_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"

namespace posenc {

// A value that files spell in several ways.
enum class ConfigKey : uint8_t {
  kHiddenSize,
  kHeads,
  kHeadDim,
  kOtherHeadDim,  // of a model of unknown family
  kMlaHeadDim,
  kMaxLen,
  kEncoderMaxLen,
  kBase,
  kSlidingBase,
  kRotaryFraction,
  kOfRotary,  // any of them shows that a model of unknown family rotates
};

// Returns the spellings, the one that counts first.
std::span<const absl::string_view> KeysOf(ConfigKey key);

// A top-level key that changes how a table is used, not what it holds.
struct KeyNote {
  absl::string_view key;
  absl::string_view note;
};

// Returns the keys that deserve a note when the file has them and they are neither null, false nor 0.
std::span<const KeyNote> NotedKeys();

// A boolean key that says whether a model rotates at all.
struct RotationSwitch {
  absl::string_view key;
  bool off;  // the value that means that it does not
};

// Returns the switches that a model of unknown family may have.
std::span<const RotationSwitch> RotationSwitches();

// Whether a key, by its name, has to do with positions: one that no rule has read is told.
bool IsAboutPositions(absl::string_view key);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_CONFIG_CONFIG_KEYS_H_

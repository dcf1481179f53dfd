// What the rules of runtimes share: how they change a draft and say so. Pure functions.

#ifndef POSENC_SERVER_MODELS_RUNTIMES_RULE_TOOLS_H_
#define POSENC_SERVER_MODELS_RUNTIMES_RULE_TOOLS_H_

#include <span>
#include <variant>

#include "absl/strings/string_view.h"
#include "server/models/rotary/rope_draft.h"

namespace posenc {

// One difference: what it does to a draft that it applies to, and says in the name of `source`, the runtime and its
// version.
using RuntimeRule = void (*)(RopeDraft& rope, absl::string_view source);

// The rules of each runtime, in the order in which they apply.
std::span<const RuntimeRule> VllmRules();
std::span<const RuntimeRule> LlamaCppRules();
std::span<const RuntimeRule> TensorRtRules();
std::span<const RuntimeRule> MlxRules();

// The draft's scaling where it is of that kind, or null.
template <typename Scaling>
Scaling* ScalingOf(RopeDraft& rope) {
  return std::get_if<Scaling>(&rope.spec.scaling);
}

// A number of the draft's block.
double NumberOr(RopeDraft& rope, absl::string_view key, double otherwise);

// Adds a note in the name of `source`.
void Say(RopeDraft& rope, absl::string_view source, absl::string_view what);

// Sets the magnitude where it differs from what transformers makes of the file.
void SetMagnitude(RopeDraft& rope, double magnitude, absl::string_view source, absl::string_view formula);

// Takes yarn's ramp to whole pairs.
void AlwaysTruncates(RopeDraft& rope, YarnScaling& yarn, absl::string_view source);

// Whether the file's yarn is DeepSeek's.
bool IsDeepSeek(const RopeDraft& rope);

// Longrope's factor on cosines and sines for a ratio of lengths.
double LongRopeMagnitude(double ratio, int64_t trained);
double RatioOf(int64_t length, const LongRopeScaling& scaling);

// Takes one of longrope's two lists for all sequences.
void ChooseList(RopeDraft& rope, bool is_long, absl::string_view source, absl::string_view why);

// The length that the tables are asked for.
int64_t ServedLength(const RopeDraft& rope);

// Leaves the scaling out.
void DropScaling(RopeDraft& rope, absl::string_view source);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_RUNTIMES_RULE_TOOLS_H_

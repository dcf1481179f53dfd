#include "server/models/rotary/rope_draft.h"

#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/core/shortest_decimal.h"

namespace posenc {
namespace {

double LongRopeMagnitude(const LongRopeScaling& scaling) {
  if (scaling.factor <= 1) return 1.0;
  return std::sqrt(1 + std::log(scaling.factor) / std::log(static_cast<double>(scaling.original_max_len)));
}

double ScalingMagnitude(const YarnScaling& yarn) {
  if (yarn.mscale == 0 || yarn.mscale_all_dim == 0) return YarnMagnitude(yarn.factor, 1);
  return YarnMagnitude(yarn.factor, yarn.mscale) / YarnMagnitude(yarn.factor, yarn.mscale_all_dim);
}

// Models with multi-head latent attention multiply their scores by the square of the second factor.
void SetSoftmaxScale(RopeDraft& rope) {
  const auto* yarn = std::get_if<YarnScaling>(&rope.spec.scaling);
  if (!rope.family().mla || rope.indexer || yarn == nullptr || yarn->mscale_all_dim == 0) return;
  const double factor = YarnMagnitude(yarn->factor, yarn->mscale_all_dim);
  rope.draft.table().softmax_scale = factor * factor;
  rope.draft.Rule("softmax_scale", ShortestDecimal(factor * factor),
                  "(0.1 * mscale_all_dim * ln(factor) + 1)^2, as DeepSeek's attention has it");
}

// Notes the factor on cosines and sines, which is in the table.
void SetTableMagnitude(const RopeSpec& spec, TableDraft& draft) {
  const double magnitude = MagnitudeOf(spec);
  draft.table().magnitude = magnitude;
  if (magnitude == 1) return;
  const bool yarn = std::holds_alternative<YarnScaling>(spec.scaling);
  draft.Rule("magnitude", ShortestDecimal(magnitude),
             spec.attention_factor ? "rope.attention_factor"
             : yarn                ? "0.1 * ln(factor) + 1, or g(mscale) / g(mscale_all_dim)"
                                   : "sqrt(1 + ln(factor) / ln(trained length))");
}

// One of the two tables of a longrope scaling; `length` is one that the table is for.
void FinishLongRope(const RopeDraft& rope, bool is_long, std::string suffix) {
  TableDraft draft = rope.draft;
  RopeSpec spec = rope.spec;
  const int64_t trained = std::get<LongRopeScaling>(spec.scaling).original_max_len;
  spec.effective_length = trained + (is_long ? 1 : 0);
  const std::optional<double>& mscale = is_long ? rope.long_mscale : rope.short_mscale;
  if (mscale) spec.attention_factor = mscale;
  SetTableMagnitude(spec, draft);
  ModelTable& table = draft.table();
  if (!suffix.empty()) {
    absl::StrAppend(&table.name, suffix);
    const std::string lengths =
        absl::StrCat("sequences ", is_long ? "longer than " : "of at most ", trained, " tokens");
    table.applies_to = table.applies_to.empty() ? lengths : absl::StrCat(table.applies_to, "; ", lengths);
  }
  std::move(draft).Finish(spec, rope.reading);
}

void FinishLongRope(RopeDraft& rope) {
  const int64_t trained = std::get<LongRopeScaling>(rope.spec.scaling).original_max_len;
  if (trained < 1 || trained >= limits::kMaxPosition) {
    rope.bad().Add(rope.block().PathOf("original_max_position_embeddings"), trained, "1 to 2^53 - 1");
    return;
  }
  if (rope.spec.effective_length) return FinishLongRope(rope, *rope.spec.effective_length > trained, "");
  FinishLongRope(rope, false, "_short");
  if (rope.bad().empty()) FinishLongRope(rope, true, "_long");
}

}  // namespace

double YarnMagnitude(double factor, double k) { return factor <= 1 ? 1.0 : 0.1 * k * std::log(factor) + 1; }

double MagnitudeOf(const RopeSpec& spec) {
  if (spec.attention_factor) return *spec.attention_factor;
  if (const auto* yarn = std::get_if<YarnScaling>(&spec.scaling)) return ScalingMagnitude(*yarn);
  if (const auto* longrope = std::get_if<LongRopeScaling>(&spec.scaling)) return LongRopeMagnitude(*longrope);
  return 1.0;
}

void FinishRope(RopeDraft&& rope) {
  if (!rope.bad().empty()) return;
  SetSoftmaxScale(rope);
  if (std::holds_alternative<LongRopeScaling>(rope.spec.scaling)) return FinishLongRope(rope);
  SetTableMagnitude(rope.spec, rope.draft);
  std::move(rope.draft).Finish(rope.spec, rope.reading);
}

}  // namespace posenc

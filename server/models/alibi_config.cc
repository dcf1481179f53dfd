#include "server/models/alibi_config.h"

#include <optional>
#include <string>
#include <utility>

namespace posenc {
namespace {

constexpr absl::string_view kAttnConfig = "attn_config";

// Baichuan's files have no flag; the width tells the rotary 7B model from the 13B one.
constexpr int64_t kRotaryBaichuanWidth = 4096;

bool MptUsesAlibi(const ModelScope& scope, Reading& reading) {
  const ConfigObject attention = scope.object.Child(kAttnConfig, reading.bad);
  const std::optional<Found<bool>> flag = attention.Flag("alibi", reading.bad);
  if (!flag || flag->value) return true;
  reading.unserved.AddText(flag->path, "is false: learned or rotary positions of MPT are not served; "
                                       "allowed: true");
  return true;
}

bool BaichuanUsesAlibi(const ModelScope& scope, Reading& reading) {
  const auto width = scope.IntegerOr(ConfigKey::kHiddenSize, scope.family->hidden_size, reading.bad);
  return width && width->value != kRotaryBaichuanWidth;
}

Found<int64_t> Heads(const ModelScope& scope, Reading& reading) {
  const auto heads = scope.IntegerOr(ConfigKey::kHeads, scope.family->heads, reading.bad);
  const std::string path = scope.object.PathOf("num_attention_heads");
  if (!heads && reading.bad.empty()) reading.bad.AddText(path, "is missing; allowed: a whole number");
  return heads.value_or(Found<int64_t>{1, path, path, false});
}

Found<int64_t> MaxLen(const ModelScope& scope, Reading& reading) {
  const auto max_len = scope.IntegerOr(ConfigKey::kMaxLen, scope.family->max_len, reading.bad);
  return max_len.value_or(
      Found<int64_t>{AlibiSpec().max_len, scope.object.PathOf("seq_length"), "default of posenc", true});
}

Found<double> BiasMax(const ModelScope& scope, Reading& reading) {
  constexpr absl::string_view kKey = "alibi_bias_max";
  if (scope.family->rule == PositionRule::kAlibiIfAttnFlag) {
    const auto written = scope.object.Child(kAttnConfig, reading.bad).Number(kKey, reading.bad);
    if (written) return *written;
  }
  return scope.Default(AlibiSpec().bias_max, kKey);
}

void AddNotes(const ModelScope& scope, Reading& reading) {
  reading.notes.push_back(
      "the bias is relative (0 at the query's own key); classes that add slope times key index give the "
      "same attention, since softmax ignores a constant per row");
  if (scope.family->rule != PositionRule::kAlibiIfFlag) return;
  reading.notes.push_back(
      "transformers rounds Falcon's slopes and positions to bfloat16 before it multiplies them; the table "
      "does not");
  reading.notes.push_back(
      "Falcon adds the bias before it divides the scores by sqrt(head_dim): divide the table likewise");
}

}  // namespace

bool UsesAlibi(const ModelScope& scope, Reading& reading) {
  switch (scope.family->rule) {
    case PositionRule::kAlibi: return true;
    case PositionRule::kAlibiIfAttnFlag: return MptUsesAlibi(scope, reading);
    case PositionRule::kAlibiIfWide: return BaichuanUsesAlibi(scope, reading);
    case PositionRule::kAlibiIfFlag: {
      const std::optional<Found<bool>> flag = scope.object.Flag("alibi", reading.bad);
      return flag && flag->value;
    }
    default: return false;
  }
}

void ReadAlibiTable(const ModelScope& scope, Reading& reading) {
  if (!reading.ok()) return;
  TableDraft draft("main", Pairing::kNone);
  AlibiSpec spec;
  spec.heads = draft.Take("alibi.heads", Heads(scope, reading));
  spec.max_len = draft.Take("alibi.max_len", MaxLen(scope, reading));
  spec.bias_max = draft.Take("alibi.bias_max", BiasMax(scope, reading));
  std::move(draft).Finish(spec, reading);
  AddNotes(scope, reading);
}

}  // namespace posenc

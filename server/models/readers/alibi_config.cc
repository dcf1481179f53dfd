#include "server/models/readers/alibi_config.h"

#include <cmath>
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
  return !flag || flag->value;
}

bool BaichuanUsesAlibi(const ModelScope& scope, Reading& reading) {
  const auto width = scope.IntegerOr(ConfigKey::kHiddenSize, scope.family->hidden_size, reading.bad);
  return width && width->value != kRotaryBaichuanWidth;
}

Found<double> BiasMax(const ModelScope& scope, Reading& reading) {
  constexpr absl::string_view kKey = "alibi_bias_max";
  if (scope.family->rule == PositionRule::kAlibiIfAttnFlag) {
    const auto written = scope.object.Child(kAttnConfig, reading.bad).Number(kKey, reading.bad);
    if (written) return *written;
  }
  return scope.Default(AlibiSpec().bias_max, kKey);
}

// BERT's kin, whose heads look both ways; the others with that key are decoders.
bool IsEncoder(const ModelScope& scope) {
  return scope.family->rule == PositionRule::kByTypeKey && scope.family->model_type != "jais";
}

// Falcon adds the bias before it divides the scores by sqrt(head_dim).
void ReadScoreDivisor(const ModelScope& scope, AlibiSpec& spec, TableDraft& draft, Reading& reading) {
  const auto width = scope.IntegerOr(ConfigKey::kHiddenSize, scope.family->hidden_size, reading.bad);
  if (!width || width->value < 1 || spec.heads < 1 || spec.heads > width->value) return;
  const double head_dim = static_cast<double>(width->value / spec.heads);
  spec.score_divisor = draft.Take(
      "alibi.score_divisor",
      Found<double>{std::sqrt(head_dim), width->path, "sqrt(hidden_size / heads)", width->defaulted});
  reading.Note("the bias is divided by sqrt(head_dim), as Falcon divides its scores after adding it");
  reading.Note(
      "transformers rounds Falcon's slopes and positions to bfloat16 before it multiplies them; the table "
      "does not");
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
    case PositionRule::kByTypeKey: {
      const auto type = scope.object.Text("position_embedding_type", reading.bad);
      return type && type->value == "alibi";
    }
    default: return false;
  }
}

void ReadAlibiTable(const ModelScope& scope, Reading& reading) {
  if (!reading.ok()) return;
  TableDraft draft("main", Pairing::kNone);
  AlibiSpec spec;
  spec.heads = draft.Take("alibi.heads", scope.Required(ConfigKey::kHeads, scope.family->heads, reading.bad));
  spec.max_len = draft.Take("alibi.max_len", scope.MaxLenOr(spec.max_len, reading.bad));
  spec.bias_max = draft.Take("alibi.bias_max", BiasMax(scope, reading));
  if (IsEncoder(scope)) {
    spec.form = AlibiForm::kSymmetric;
    draft.Rule("alibi.form", "symmetric", "attention of an encoder");
  } else {
    reading.Note(
        "the bias is relative (0 at the query's own key); classes that add slope times key index give the "
        "same attention, since softmax ignores a constant per row");
  }
  if (scope.family->rule == PositionRule::kAlibiIfFlag) ReadScoreDivisor(scope, spec, draft, reading);
  std::move(draft).Finish(spec, reading);
}

}  // namespace posenc

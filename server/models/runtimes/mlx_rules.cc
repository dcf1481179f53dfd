#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/core/shortest_decimal.h"
#include "server/models/config/config_json.h"
#include "server/models/runtimes/mlx_models.h"
#include "server/models/runtimes/rule_tools.h"

namespace posenc {
namespace {

void MlxYarn(RopeDraft& rope, absl::string_view source) {
  constexpr int64_t kBuiltIn = 4096;
  constexpr absl::string_view kOriginal = "original_max_position_embeddings";
  auto* yarn = ScalingOf<YarnScaling>(rope);
  if (yarn == nullptr) return;
  AlwaysTruncates(rope, *yarn, source);
  if (rope.block().Find(kOriginal) == nullptr && yarn->original_max_len != kBuiltIn) {
    yarn->original_max_len = kBuiltIn;
    rope.draft.Rule("rope.yarn.original_max_len", "4096", absl::StrCat("default of ", source));
    Say(rope, source, "4096 where the block has no trained length");
  }
  const double own = YarnMagnitude(yarn->factor, NumberOr(rope, "mscale", 1));
  const double all = YarnMagnitude(yarn->factor, NumberOr(rope, "mscale_all_dim", 0));
  SetMagnitude(rope, own / all, source, "g(mscale) / g(mscale_all_dim), 1 and 0 when missing (#1507)");
}

void MlxLongRope(RopeDraft& rope, absl::string_view source) {
  auto* scaling = ScalingOf<LongRopeScaling>(rope);
  if (scaling == nullptr) return;
  ChooseList(rope, true, source, "a rule that ignores short_factor");
  const double usual = LongRopeMagnitude(RatioOf(rope.spec.max_len, *scaling), scaling->original_max_len);
  SetMagnitude(rope, NumberOr(rope, "long_mscale", usual), source,
               "long_mscale, else by the ratio of lengths");
  rope.long_mscale.reset();
}

const MlxModel* MlxModelOf(const RopeDraft& rope) {
  const MlxModel* model = FindMlxModel(rope.scope.model_type.value);
  return model != nullptr ? model : FindMlxModel(rope.family().model_type);
}

// Model files that leave the block unread, or whole kinds of it.
void MlxDrops(RopeDraft& rope, absl::string_view source) {
  const MlxModel* model = MlxModelOf(rope);
  if (model == nullptr) {
    Say(rope, source, absl::StrCat("refuses the file: there is no model file for ", Quote(rope.scope.model_type.value),
                                   " (ValueError in mlx_lm/utils.py _get_classes); the table is what "
                                   "initialize_rope of mlx_lm/models/rope_utils.py makes of its keys"));
    return;
  }
  const bool scaled = !std::holds_alternative<std::monostate>(rope.spec.scaling);
  const bool linear = std::holds_alternative<LinearScaling>(rope.spec.scaling);
  const bool longrope = std::holds_alternative<LongRopeScaling>(rope.spec.scaling);
  const bool drops = model->scaling == MlxScaling::kIgnored ||
                     (model->scaling == MlxScaling::kLinearElsePlain && !linear) ||
                     (model->scaling == MlxScaling::kPhi3 && !linear && !longrope);
  if (scaled && drops) {
    DropScaling(rope, absl::StrCat(source, ", mlx_lm/models/", model->model_type, ".py"));
    rope.spec.attention_factor.reset();
  }
}

// Most model files read rope_theta and rope_scaling at the top alone, and know nothing of rope_parameters.
void MlxTopAlone(RopeDraft& rope, absl::string_view source) {
  const MlxModel* model = MlxModelOf(rope);
  const ConfigObject& object = rope.scope.object;
  if (model == nullptr || model->base == 0 || rope.layer.base) return;
  const bool has_base = object.Find("rope_theta") != nullptr || object.Find("rope_embedding_base") != nullptr;
  const std::string file = absl::StrCat(source, ", mlx_lm/models/", model->model_type, ".py");
  if (!has_base && model->base < 0) {
    rope.reading.unserved.AddText(object.PathOf("rope_theta"), absl::StrCat("is missing, which ", file, " refuses "
                                                                            "(TypeError); allowed: a number"));
    return;
  }
  if (!has_base && rope.spec.base != model->base) {
    Say(rope, file, absl::StrCat("base ", ShortestDecimal(model->base), " and not ", ShortestDecimal(rope.spec.base),
                                 ": it reads rope_theta at the top alone (#1563)"));
    rope.spec.base = model->base;
    rope.draft.Rule("rope.base", ShortestDecimal(model->base), absl::StrCat("default of ", file));
  }
  const bool unread = object.Find("rope_scaling") == nullptr && object.Find("rope_parameters") != nullptr;
  if (!unread || std::holds_alternative<std::monostate>(rope.spec.scaling)) return;
  DropScaling(rope, file);
  rope.spec.attention_factor.reset();
}

// The file's width of the head, where transformers rotates half of it.
void MlxGlm(RopeDraft& rope, absl::string_view source) {
  if (rope.family().model_type != "glm" || rope.spec.rotary_dim == rope.spec.head_dim) return;
  rope.spec.rotary_dim = rope.spec.head_dim;
  rope.draft.Rule("rope.rotary_dim", absl::StrCat(rope.spec.head_dim), absl::StrCat("the whole head (", source, ")"));
  Say(rope, source, "mlx_lm/models/glm.py rotates the whole head and not its partial_rotary_factor");
}

void MlxParameters(RopeDraft& rope, absl::string_view source) {
  const ConfigObject& object = rope.scope.object;
  // Of those that are known MlxTopAlone says what they do.
  if (MlxModelOf(rope) != nullptr) return;
  if (object.Find("rope_parameters") == nullptr || object.Find("rope_theta") != nullptr) return;
  Say(rope, source, "models that read rope_theta and rope_scaling alone drop rope_parameters (#1563)");
}

void MlxLayout(RopeDraft& rope, absl::string_view source) {
  Say(rope, source, "passes periods (layout periods) and scales the rotated channels, not the table; linear "
                    "scaling multiplies positions (arithmetic float32-mlx)");
}

}  // namespace

std::span<const RuntimeRule> MlxRules() {
  static constexpr RuntimeRule kRules[] = {MlxDrops,
                                           MlxTopAlone,
                                           MlxGlm,
                                           MlxYarn,
                                           MlxLongRope,
                                           MlxParameters,
                                           MlxLayout};
  return kRules;
}

}  // namespace posenc

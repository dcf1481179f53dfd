#include "server/models/readers/temperature_config.h"

#include <optional>
#include <utility>

#include "server/models/rotary/rope_layers.h"

namespace posenc {
namespace {

constexpr absl::string_view kName = "query_temperature";
constexpr absl::string_view kTuning = "attn_temperature_tuning";

// Floor of a length that a file writes as a float.
Found<int64_t> Whole(const ModelScope& scope, absl::string_view key, int64_t value, Violations& bad) {
  return scope.object.Integer(key, bad).value_or(scope.Default(value, key));
}

void ReadLlama4(const ModelScope& scope, Reading& reading) {
  const bool on = scope.object.Find(kTuning) == nullptr || scope.object.IsTruthy(kTuning);
  if (!on) return;
  TableDraft draft(std::string(kName), Pairing::kNone, "queries of layers without rotation");
  QueryTemperatureSpec spec;
  spec.position_offset = 1;
  spec.scale = draft.Take("query_temperature.scale",
                          scope.object.Number("attn_scale", reading.bad).value_or(
                              scope.Default(spec.scale, "attn_scale")));
  spec.floor_len = draft.Take("query_temperature.floor_len",
                              Whole(scope, "floor_scale", spec.floor_len, reading.bad));
  spec.max_len = draft.Take("query_temperature.max_len", scope.MaxLenOr(spec.max_len, reading.bad));
  std::move(draft).Finish(spec, reading);
}

void ReadBeta(const ModelScope& scope, const ConfigObject& block, Reading& reading) {
  const auto beta = block.Number("llama_4_scaling_beta", reading.bad);
  if (!beta) return;
  TableDraft draft(std::string(kName), Pairing::kNone, "all queries");
  QueryTemperatureSpec spec;
  spec.scale = draft.Take("query_temperature.scale", *beta);
  const auto trained = block.Integer("original_max_position_embeddings", reading.bad);
  spec.floor_len = draft.Take("query_temperature.floor_len",
                              trained.value_or(scope.MaxLenOr(spec.max_len, reading.bad)));
  spec.max_len = draft.Take("query_temperature.max_len", scope.MaxLenOr(spec.max_len, reading.bad));
  std::move(draft).Finish(spec, reading);
}

}  // namespace

void ReadQueryTemperature(const ModelScope& scope, Reading& reading) {
  if (!reading.bad.empty()) return;
  if (scope.family->llama4_temperature) return ReadLlama4(scope, reading);
  for (const Layer& layer : LayersOf(scope, PlanOf(scope), reading)) {
    if (reading.bad.empty()) ReadBeta(scope, layer.block, reading);
  }
}

}  // namespace posenc

// The layers of a model, one by one: of which kind each is, and whether it rotates. Pure functions.

#ifndef POSENC_SERVER_MODELS_ROTARY_LAYER_PLAN_H_
#define POSENC_SERVER_MODELS_ROTARY_LAYER_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"

namespace posenc {

// Names of kinds that files use; others are kept as the file has them.
inline constexpr absl::string_view kFullAttention = "full_attention";
inline constexpr absl::string_view kSlidingAttention = "sliding_attention";
inline constexpr absl::string_view kLinearAttention = "linear_attention";

struct PlannedLayer {
  std::string kind;
  bool rotates = true;
};

struct LayerPlan {
  // One for each layer, in order; empty where nothing says how many there are.
  std::vector<PlannedLayer> layers;
  std::string kinds_source;    // the key or default that tells the kinds; empty: all are of one
  std::string rotation_source;  // the key or rule by which some do not rotate; empty: by their kind alone

  bool HasKind(absl::string_view kind) const;

  // Indices of the layers that rotate, of one kind or (empty) of any, and of those that do not.
  std::vector<int64_t> Rotating(absl::string_view kind = "") const;
  std::vector<int64_t> Still() const;
};

// Plans the layers of the scope's model by the file's lists (layer_types, hybrid_layer_pattern and their kin),
// then by the family's pattern. What is no list of layers is left out; nothing here makes a file wrong.
LayerPlan PlanOf(const ModelScope& scope);

// Whether layers of that kind have attention, and so may rotate.
bool HasAttention(absl::string_view kind);

// Indices as text: "0, 1, 2", long runs as "0 to 30".
std::string LayersText(const std::vector<int64_t>& layers);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ROTARY_LAYER_PLAN_H_

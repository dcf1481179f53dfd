// The parts of the list of model families, each in the file of its name. Constant data.

#ifndef POSENC_SERVER_MODELS_FAMILIES_FAMILY_ROWS_H_
#define POSENC_SERVER_MODELS_FAMILIES_FAMILY_ROWS_H_

#include <span>

#include "server/models/families/model_families.h"

namespace posenc {

std::span<const ModelFamily> AbsoluteFamilies();
std::span<const ModelFamily> AxesFamilies();
std::span<const ModelFamily> BiasedFamilies();
std::span<const ModelFamily> HybridFamilies();
std::span<const ModelFamily> InterleavedFamilies();
std::span<const ModelFamily> LatentFamilies();
std::span<const ModelFamily> LayeredFamilies();
std::span<const ModelFamily> LearnedFamilies();
std::span<const ModelFamily> PartialFamilies();
std::span<const ModelFamily> PlainFamilies();
std::span<const ModelFamily> ScaledFamilies();
std::span<const ModelFamily> WithoutFamilies();

// A name that means the family of another row.
struct FamilyAlias {
  absl::string_view name;
  absl::string_view model_type;
};
std::span<const FamilyAlias> FamilyAliases();

// Where rows of families without a class in transformers were read; README.md has the commits.
inline constexpr absl::string_view kMlx = "mlx-lm, mlx_lm/models";
inline constexpr absl::string_view kVllm = "vLLM, vllm/model_executor/models";
inline constexpr absl::string_view kLlamaCpp = "llama.cpp, src/models";
inline constexpr absl::string_view kRemote = "the model's own code";

// Names of tables in checkpoints that several families share.
inline constexpr absl::string_view kBertTensor = "embeddings.position_embeddings.weight";
inline constexpr absl::string_view kGptTensor = "transformer.wpe.weight";
inline constexpr absl::string_view kBartTensor = "model.decoder.embed_positions.weight";

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_FAMILIES_FAMILY_ROWS_H_

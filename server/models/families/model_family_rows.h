// The parts of the list of model families, by the first letter of the model_type. Constant data.

#ifndef POSENC_SERVER_MODELS_FAMILIES_MODEL_FAMILY_ROWS_H_
#define POSENC_SERVER_MODELS_FAMILIES_MODEL_FAMILY_ROWS_H_

#include <span>

#include "server/models/families/model_families.h"

namespace posenc {

std::span<const ModelFamily> FamiliesAToF();
std::span<const ModelFamily> FamiliesGToL();
std::span<const ModelFamily> FamiliesMToP();
std::span<const ModelFamily> FamiliesQToZ();

// Names of tables in checkpoints that several families share.
inline constexpr absl::string_view kBertTensor = "embeddings.position_embeddings.weight";
inline constexpr absl::string_view kGptTensor = "transformer.wpe.weight";
inline constexpr absl::string_view kBartTensor = "model.decoder.embed_positions.weight";

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_FAMILIES_MODEL_FAMILY_ROWS_H_

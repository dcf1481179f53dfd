// What a model's file was found to mean: its tables, and where every value of them came from.
//
// Threads: plain values.

#ifndef POSENC_SERVER_MODELS_ANSWER_MODEL_TABLES_H_
#define POSENC_SERVER_MODELS_ANSWER_MODEL_TABLES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/specs/spec.h"

namespace posenc {

// Where one value of a table's spec came from.
struct ValueOrigin {
  std::string field;   // spec field, e.g. "rope.base"
  std::string value;   // as text, e.g. "500000"
  std::string source;  // the file's key ("rope_theta", "text_config.rope_scaling.factor") or the default
                       // ("default of LlamaConfig", "hidden_size / num_attention_heads")
  bool defaulted = false;  // true when the file does not say it
  bool assumed = false;    // and no known class or runtime does: it may be wrong
};

// Which channels of q and k form a rotated pair.
enum class Pairing : uint8_t {
  kNone = 0,         // not a rotary table
  kHalfSplit = 1,    // (i, i + rotary_dim / 2)
  kInterleaved = 2,  // (2i, 2i + 1)
};

// One table of a model.
struct ModelTable {
  std::string name;  // "main", or the layer type where a model has several
  TableSpec spec;    // normalised; element type F32, the default layout (column i is pair i)
  Pairing pairing = Pairing::kNone;
  double softmax_scale = 1.0;  // factor on the scores besides 1/sqrt(head_dim)
  double magnitude = 1.0;      // factor on cos and sin that is already in the table
  int64_t rotary_begin = 0;    // first channel of a head that rotates; the rotated ones follow each other
  std::string applies_to = {};  // which layers or parts use the table; empty: all
  // The same as indices from 0, in ascending order, of the text model's or the part's layers; empty where the
  // file does not say how many there are, or the table is no layer's.
  std::vector<int64_t> layers = {};
  std::vector<ValueOrigin> origins;
};

struct ModelTables {
  std::string model_type;  // as in the file; empty where it has none
  bool known_family = false;
  std::vector<ModelTable> tables;   // empty for a model without a positional table
  std::vector<std::string> notes;   // warnings, assumptions, what is not certain
  // Layers of the text model that have none of the tables, where others have one; indices from 0.
  std::vector<int64_t> layers_without_table = {};
};

// Whose rules turn a file into tables.
enum class Runtime : uint8_t {
  kTransformers = 1,  // what the model's authors meant: transformers' current rules
  kVllm = 2,
  kLlamaCpp = 3,
  kTensorRtLlm = 4,
  kMlxLm = 5,
};
constexpr auto EnumNames(Runtime) {
  return std::to_array<absl::string_view>({"transformers", "vllm", "llama.cpp", "tensorrt-llm", "mlx-lm"});
}

// A model's file and how to read it. Exactly one of the two texts is not empty.
struct ModelQuery {
  std::string config_json = {};  // the text of a config.json, of transformers or diffusers
  std::string gguf_json = {};    // a GGUF file's metadata as JSON (gguf.h)
  Runtime runtime = Runtime::kTransformers;
  // Length of the sequence that the tables are for, where scaling depends on it.
  std::optional<int64_t> effective_length = {};
};

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ANSWER_MODEL_TABLES_H_

#include "server/models/gguf/gguf_config.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/models/readers/absolute_config.h"
#include "server/models/config/config_json.h"
#include "server/models/gguf/gguf_keys.h"

namespace posenc {
namespace {

constexpr absl::string_view kWholeGguf = "gguf_json";

// Reads the tables of one file.
class GgufReader {
 public:
  GgufReader(const GgufKeys& keys, const ModelQuery& query)
      : keys_(keys), query_(query), reading_(keys.reading()) {}

  // Returns whether the architecture is in the list.
  bool Read(const std::string& architecture);

 private:
  bool HasAlibi();
  void ReadAlibi();
  void ReadRope(bool sliding, const std::string& name);
  Found<int64_t> HeadDim(bool sliding);
  Found<double> Base(bool sliding);
  void ReadAxes(RopeDraft& rope);
  void ReadTemperature();
  void ReadPositions();
  void ReadBuckets();

  const GgufKeys& keys_;
  const ModelQuery& query_;
  Reading& reading_;
  GgufArchitecture row_ = {};
};

bool GgufReader::HasAlibi() {
  if (row_.alibi_layers != 0) {
    const auto layers = keys_.Integer("block_count");
    return layers && layers->value == row_.alibi_layers;
  }
  const auto bias = keys_.Number("attention.max_alibi_bias");
  return row_.alibi_bias_max != 0 || (bias && bias->value > 0);
}

void GgufReader::ReadAlibi() {
  TableDraft draft("main", Pairing::kNone);
  AlibiSpec spec;
  const auto heads = keys_.Integer("attention.head_count");
  if (!heads) reading_.bad.AddText(keys_.Key("attention.head_count"), "is missing; allowed: a whole number");
  if (!heads) return;
  spec.heads = draft.Take("alibi.heads", *heads);
  const auto bias = row_.alibi_bias_max == 0 ? keys_.Number("attention.max_alibi_bias") : std::nullopt;
  spec.bias_max = draft.Take("alibi.bias_max",
                             bias.value_or(keys_.Default(row_.alibi_bias_max, "attention.max_alibi_bias")));
  spec.max_len = draft.Take("alibi.max_len",
                            keys_.Integer("context_length").value_or(keys_.Default(spec.max_len, "context_length")));
  if (row_.symmetric) spec.form = AlibiForm::kSymmetric;
  std::move(draft).Finish(spec, reading_);
}

Found<int64_t> GgufReader::HeadDim(bool sliding) {
  if (row_.mla) {
    if (const auto slice = keys_.Integer("rope.dimension_count")) return *slice;
  }
  const auto own = sliding ? keys_.Integer("attention.key_length_swa") : std::nullopt;
  if (own) return *own;
  if (const auto written = keys_.Integer("attention.key_length")) return *written;
  const auto width = keys_.Integer("embedding_length");
  const auto heads = keys_.Integer("attention.head_count");
  const bool divides =
      width && heads && heads->value > 0 && width->value > 0 && width->value % heads->value == 0;
  if (divides) {
    return {width->value / heads->value, width->path, absl::StrCat(width->source, " / ", heads->source),
            false};
  }
  if (reading_.bad.empty()) {
    reading_.bad.AddText(keys_.Key("attention.key_length"), "is missing, and embedding_length is no multiple of "
                                                      "attention.head_count; allowed: a whole number");
  }
  return {2, keys_.Key("attention.key_length"), "", true};
}

Found<double> GgufReader::Base(bool sliding) {
  constexpr double kBuiltIn = 10000.0;
  if (sliding) {
    const auto own = keys_.Number("rope.freq_base_swa");
    if (own || row_.sliding_base != 0) return own.value_or(keys_.Default(row_.sliding_base, "rope.freq_base_swa"));
  }
  const auto written = keys_.Number("rope.freq_base");
  if (!written) {
    reading_.Note(absl::StrCat(keys_.Key("rope.freq_base"), " is missing: llama.cpp takes 10000, whatever the "
                               "model was trained with"));
  }
  return written.value_or(keys_.Default(kBuiltIn, "rope.freq_base"));
}

// Four sections; llama.cpp's own interleaving gives what is left over to the fourth axis.
void GgufReader::ReadAxes(RopeDraft& rope) {
  const auto sections = keys_.Integers("rope.dimension_sections");
  const bool interleaved = row_.rope == GgmlRope::kInterleaved;
  const bool wanted = interleaved || row_.rope == GgmlRope::kMrope || row_.mrope_with_sections;
  if (!sections || !wanted) return;
  RopeAxes axes;
  axes.sections = rope.draft.Take("rope.axes.sections", *sections);
  if (axes.sections.size() != 4) {
    reading_.Note(
        absl::StrCat(sections->path, " has ", axes.sections.size(), " entries; llama.cpp loads four only"));
    axes.sections.resize(std::clamp<size_t>(axes.sections.size(), 3, 4));
  }
  const bool ggml = interleaved && query_.runtime == Runtime::kLlamaCpp;
  if (ggml) axes.sections.resize(4);
  if (!ggml && axes.sections.size() == 4 && axes.sections[3] == 0) axes.sections.pop_back();
  axes.map = !interleaved ? AxisMap::kContiguous : ggml ? AxisMap::kInterleavedGgml : AxisMap::kInterleaved;
  rope.draft.Rule("rope.axes.map", interleaved ? "interleaved" : "contiguous", "built into llama.cpp");
  rope.spec.axes = std::move(axes);
}

void GgufReader::ReadRope(bool sliding, const std::string& name) {
  static constexpr ModelFamily kFamily = {.class_name = "llama.cpp"};
  const ModelScope scope = {keys_.metadata(), {}, &kFamily, true, query_.runtime, query_.effective_length};
  const Layer layer = {name, keys_.metadata(), sliding, false,
                       name == "main" ? std::string(row_.applies_to)
                       : sliding      ? "layers with sliding attention"
                                      : "layers with full attention"};
  // ggml's mode of sections is half-split; converters permute the weights of the models that were not.
  const bool sections = row_.mrope_with_sections && keys_.Has("rope.dimension_sections");
  const bool norm = row_.rope == GgmlRope::kNorm && !sections;
  const Pairing pairing = norm ? Pairing::kInterleaved : Pairing::kHalfSplit;
  RopeDraft rope = {scope, layer, reading_, TableDraft(name, pairing, layer.applies_to)};
  RopeSpec& spec = rope.spec;
  spec.head_dim = rope.draft.Take("rope.head_dim", HeadDim(sliding));
  const auto own = sliding ? keys_.Integer("rope.dimension_count_swa") : std::nullopt;
  const auto written = own ? own : keys_.Integer("rope.dimension_count");
  spec.rotary_dim =
      rope.draft.Take("rope.rotary_dim", written.value_or(keys_.Default(spec.head_dim, "rope.dimension_count")));
  spec.max_len = rope.draft.Take("rope.max_len",
                                 keys_.Integer("context_length").value_or(keys_.Default(spec.max_len, "context_length")));
  spec.base = rope.draft.Take("rope.base", Base(sliding));
  spec.effective_length = query_.effective_length;
  if (!reading_.bad.empty()) return;
  // llama.cpp scales only the layers with full attention.
  if (!sliding) ReadGgufScaling(keys_, row_, rope);
  ReadAxes(rope);
  FinishRope(std::move(rope));
}

void GgufReader::ReadTemperature() {
  const auto scale = keys_.Number("attention.temperature_scale");
  const auto length = keys_.Integer("attention.temperature_length");
  if (!reading_.bad.empty() || (!scale && !row_.llama4_temperature)) return;
  TableDraft draft("query_temperature", Pairing::kNone,
                   row_.llama4_temperature ? "queries of layers without rotation" : "all queries");
  QueryTemperatureSpec spec;
  spec.position_offset = row_.llama4_temperature ? 1 : 0;
  spec.scale = draft.Take("query_temperature.scale",
                          scale.value_or(keys_.Default(spec.scale, "attention.temperature_scale")));
  const auto trained =
      row_.llama4_temperature ? std::nullopt : keys_.Integer("rope.scaling.original_context_length");
  spec.floor_len = draft.Take(
      "query_temperature.floor_len",
      length ? *length : trained.value_or(keys_.Default(spec.floor_len, "attention.temperature_length")));
  spec.max_len = draft.Take("query_temperature.max_len",
                            keys_.Integer("context_length").value_or(keys_.Default(spec.max_len, "context_length")));
  std::move(draft).Finish(spec, reading_);
}

void GgufReader::ReadPositions() {
  constexpr absl::string_view kTensor = "position_embd.weight";
  if (!keys_.HasTensor(kTensor)) return;
  const std::vector<int64_t> shape = keys_.Shape(kTensor);
  const int64_t rows = shape.size() == 2 ? shape[1] : 0;
  AddLearnedTable(TableDraft("learned", Pairing::kNone), kTensor, keys_.Default(int64_t{0}, "position_offset"),
                  rows, reading_);
}

void GgufReader::ReadBuckets() {
  const auto buckets = keys_.Integer("attention.relative_buckets_count");
  if (!buckets || !reading_.bad.empty()) return;
  for (const bool encoder : {true, false}) {
    if (!encoder && row_.name == "t5encoder") continue;
    TableDraft draft(encoder ? "encoder" : "decoder", Pairing::kNone,
                     encoder ? "the encoder" : "the decoder");
    RelativeBucketSpec spec;
    spec.rule =
        T5Buckets{.buckets = draft.Take("relative_bucket.t5.buckets", *buckets), .bidirectional = encoder};
    spec.max_len = draft.Take("relative_bucket.max_len",
                              keys_.Integer("context_length").value_or(keys_.Default(spec.max_len, "context_length")));
    std::move(draft).Finish(spec, reading_);
  }
  reading_.Note("the bias is learned: enc.blk.0.attn_rel_b.weight and dec.blk.0.attn_rel_b.weight");
}

bool GgufReader::Read(const std::string& architecture) {
  const GgufArchitecture* row = FindArchitecture(architecture);
  const bool rotary_key =
      keys_.Has("rope.freq_base") || keys_.Has("rope.dimension_count");
  if (row == nullptr && !rotary_key) {
    reading_.unserved.AddText("general.architecture",
                              absl::StrCat("is ", Quote(architecture),
                                           ", which is not in the list, and no key of "
                                           "it rotates; allowed: one of the list"));
    return false;
  }
  if (row == nullptr) reading_.Note(absl::StrCat("general.architecture ", Quote(architecture),
                                                 " is not in the list: half-split pairing is assumed"));
  row_ = row != nullptr ? *row : GgufArchitecture{.name = "", .rope = GgmlRope::kNeox};
  ReadPositions();
  ReadBuckets();
  if (HasAlibi()) {
    ReadAlibi();
  } else if (row_.rope != GgmlRope::kNone && !(architecture == "bert" && !rotary_key)) {
    const bool sliding = keys_.Has("rope.freq_base_swa") ||
                         (row_.sliding_base != 0 && keys_.Integer("attention.sliding_window"));
    ReadRope(false, sliding ? "full_attention" : "main");
    if (sliding && reading_.bad.empty()) ReadRope(true, "sliding_attention");
  }
  ReadTemperature();
  if (reading_.ok() && reading_.tables.empty()) reading_.Note("the model has no positional table");
  return row != nullptr;
}

// Names the GGUF text where the parser names a config.json.
absl::Status AboutGguf(const absl::Status& status) {
  Violations bad;
  for (const FieldViolation& violation : FieldViolationsOf(status)) {
    const bool whole = violation.field == kWholeConfig;
    bad.AddText(whole ? kWholeGguf : violation.field, violation.description);
  }
  return bad.ToStatus(status.code());
}

}  // namespace

absl::StatusOr<ModelTables> ResolveGguf(const ModelQuery& query) {
  const absl::StatusOr<Json> document = ParseConfigJson(query.gguf_json);
  if (!document.ok()) return AboutGguf(document.status());
  Reading reading;
  const ConfigObject root(*document, "");
  const ConfigObject read = root.Child("metadata", reading.bad);
  const ConfigObject tensors = root.Child("tensors", reading.bad);
  if (read.empty() && reading.bad.empty())
    reading.bad.AddText("metadata", "is missing; allowed: the keys of a GGUF file");
  if (!reading.bad.empty()) return reading.bad.ToStatus();
  const ConfigObject metadata(*read.json(), "");
  const auto architecture = metadata.Text("general.architecture", reading.bad);
  if (!architecture && reading.bad.empty()) {
    reading.bad.AddText("general.architecture", "is missing; allowed: the name of an architecture");
  }
  if (!reading.bad.empty()) return reading.bad.ToStatus();
  const ConfigObject values = tensors.empty() ? ConfigObject("") : ConfigObject(*tensors.json(), "");
  const GgufKeys keys(metadata, values, architecture->value, reading);
  const bool known = GgufReader(keys, query).Read(architecture->value);
  if (!reading.bad.empty()) return reading.bad.ToStatus();
  if (!reading.unserved.empty()) return reading.unserved.ToStatus(absl::StatusCode::kUnimplemented);
  return ModelTables{architecture->value, known, std::move(reading.tables), std::move(reading.notes)};
}

}  // namespace posenc

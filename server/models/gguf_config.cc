#include "server/models/gguf_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/models/absolute_config.h"
#include "server/models/config_json.h"
#include "server/models/gguf_architectures.h"
#include "server/models/rope_draft.h"

namespace posenc {
namespace {

constexpr absl::string_view kWholeGguf = "gguf_json";

// Reads the tables of one file.
class GgufReader {
 public:
  GgufReader(const ConfigObject& metadata, const ConfigObject& tensors, const ModelQuery& query,
             Reading& reading)
      : metadata_(metadata), tensors_(tensors), query_(query), reading_(reading) {}

  // Returns whether the architecture is in the list.
  bool Read(const std::string& architecture);

 private:
  using Axes = std::optional<Found<std::vector<int64_t>>>;

  std::string Key(absl::string_view name) const { return absl::StrCat(prefix_, ".", name); }
  std::optional<Found<double>> Number(absl::string_view name) {
    return metadata_.Number(Key(name), reading_.bad);
  }
  // A number, or the first of a list that has one for each layer.
  std::optional<Found<int64_t>> Integer(absl::string_view name);
  template <typename T>
  Found<T> Default(T value, absl::string_view name) const {
    return {value, Key(name), "default of llama.cpp", true};
  }
  std::vector<double> Divisors(absl::string_view tensor);

  bool HasAlibi();
  void ReadAlibi();
  void ReadRope(bool sliding, const std::string& name);
  Found<int64_t> HeadDim(bool sliding);
  Found<double> Base(bool sliding);
  int64_t OriginalLength(const RopeSpec& spec, absl::string_view field, TableDraft& draft);
  void ReadScaling(RopeDraft& rope, bool sliding);
  void ReadYarn(RopeDraft& rope, double factor);
  bool ReadFactorTensors(RopeDraft& rope, double factor);
  void ReadAxes(RopeDraft& rope);
  void ReadTemperature();
  void ReadPositions();
  void ReadBuckets();

  const ConfigObject& metadata_;
  const ConfigObject& tensors_;
  const ModelQuery& query_;
  Reading& reading_;
  std::string prefix_;
  GgufArchitecture row_ = {};
};

std::optional<Found<int64_t>> GgufReader::Integer(absl::string_view name) {
  const std::string key = Key(name);
  const Json* value = metadata_.Find(key);
  if (value == nullptr || !value->is_array()) return metadata_.Integer(key, reading_.bad);
  const auto list = metadata_.Integers(key, reading_.bad);
  if (!list || list->value.empty()) return std::nullopt;
  const int64_t largest = *std::max_element(list->value.begin(), list->value.end());
  return Found<int64_t>{largest, list->path, absl::StrCat(list->source, " (largest of its layers)"), false};
}

std::vector<double> GgufReader::Divisors(absl::string_view tensor) {
  const auto values = tensors_.Child(tensor, reading_.bad).Numbers("values", reading_.bad);
  return values ? values->value : std::vector<double>();
}

bool GgufReader::HasAlibi() {
  if (row_.alibi_layers != 0) {
    const auto layers = Integer("block_count");
    return layers && layers->value == row_.alibi_layers;
  }
  const auto bias = Number("attention.max_alibi_bias");
  return row_.alibi_bias_max != 0 || (bias && bias->value > 0);
}

void GgufReader::ReadAlibi() {
  TableDraft draft("main", Pairing::kNone);
  AlibiSpec spec;
  const auto heads = Integer("attention.head_count");
  if (!heads) reading_.bad.AddText(Key("attention.head_count"), "is missing; allowed: a whole number");
  if (!heads) return;
  spec.heads = draft.Take("alibi.heads", *heads);
  const auto bias = row_.alibi_bias_max == 0 ? Number("attention.max_alibi_bias") : std::nullopt;
  spec.bias_max = draft.Take("alibi.bias_max",
                             bias.value_or(Default(row_.alibi_bias_max, "attention.max_alibi_bias")));
  spec.max_len = draft.Take("alibi.max_len",
                            Integer("context_length").value_or(Default(spec.max_len, "context_length")));
  if (row_.symmetric) spec.form = AlibiForm::kSymmetric;
  std::move(draft).Finish(spec, reading_);
}

Found<int64_t> GgufReader::HeadDim(bool sliding) {
  if (row_.mla) {
    if (const auto slice = Integer("rope.dimension_count")) return *slice;
  }
  const auto own = sliding ? Integer("attention.key_length_swa") : std::nullopt;
  if (own) return *own;
  if (const auto written = Integer("attention.key_length")) return *written;
  const auto width = Integer("embedding_length");
  const auto heads = Integer("attention.head_count");
  const bool divides =
      width && heads && heads->value > 0 && width->value > 0 && width->value % heads->value == 0;
  if (divides) {
    return {width->value / heads->value, width->path, absl::StrCat(width->source, " / ", heads->source),
            false};
  }
  if (reading_.bad.empty()) {
    reading_.bad.AddText(Key("attention.key_length"), "is missing, and embedding_length is no multiple of "
                                                      "attention.head_count; allowed: a whole number");
  }
  return {2, Key("attention.key_length"), "", true};
}

Found<double> GgufReader::Base(bool sliding) {
  constexpr double kBuiltIn = 10000.0;
  if (sliding) {
    const auto own = Number("rope.freq_base_swa");
    if (own || row_.sliding_base != 0) return own.value_or(Default(row_.sliding_base, "rope.freq_base_swa"));
  }
  const auto written = Number("rope.freq_base");
  if (!written) {
    reading_.Note(absl::StrCat(Key("rope.freq_base"), " is missing: llama.cpp takes 10000, whatever the "
                               "model was trained with"));
  }
  return written.value_or(Default(kBuiltIn, "rope.freq_base"));
}

int64_t GgufReader::OriginalLength(const RopeSpec& spec, absl::string_view field, TableDraft& draft) {
  const auto written = Integer("rope.scaling.original_context_length");
  return draft.Take(field, written.value_or(Found<int64_t>{spec.max_len, Key("context_length"),
                                                           Key("context_length"), true}));
}

// Lists of divisors among the tensors count whatever the type says; rope_freqs beats the other two.
bool GgufReader::ReadFactorTensors(RopeDraft& rope, double factor) {
  std::vector<double> divisors = Divisors("rope_freqs.weight");
  if (!divisors.empty()) {
    rope.draft.Rule("rope.divisors.divisors", absl::StrCat(divisors.size(), " numbers"), "rope_freqs.weight");
    for (double& divisor : divisors) divisor *= factor;
    const bool stops =
        std::any_of(divisors.begin(), divisors.end(), [](double d) { return d > limits::kMaxFactor; });
    if (!stops) {
      rope.spec.scaling = FrequencyDivisors{std::move(divisors)};
      return true;
    }
    // A divisor of 10^30 is how converters say that a pair does not rotate (Gemma 4).
    ExplicitFrequencies given;
    const auto width = static_cast<double>(rope.spec.rotary_dim);
    for (size_t i = 0; i < divisors.size(); ++i) {
      const double plain = std::pow(rope.spec.base, -2.0 * static_cast<double>(i) / width);
      given.inverse_frequencies.push_back(divisors[i] > limits::kMaxFactor ? 0.0 : plain / divisors[i]);
    }
    rope.reading.Note("pairs with a divisor above 10^9 do not rotate: their frequency is 0");
    rope.spec.scaling = std::move(given);
    return true;
  }
  LongRopeScaling lists;
  lists.short_factor = Divisors("rope_factors_short.weight");
  lists.long_factor = Divisors("rope_factors_long.weight");
  if (lists.short_factor.empty() || lists.long_factor.empty()) return false;
  rope.draft.Rule("rope.longrope.short_factor", "a list", "rope_factors_short.weight");
  rope.draft.Rule("rope.longrope.long_factor", "a list", "rope_factors_long.weight");
  lists.original_max_len = OriginalLength(rope.spec, "rope.longrope.original_max_len", rope.draft);
  const auto magnitude = Number("rope.scaling.attn_factor");
  rope.spec.attention_factor =
      rope.draft.Take("rope.attention_factor", magnitude.value_or(Default(1.0, "rope.scaling.attn_factor")));
  rope.spec.scaling = std::move(lists);
  reading_.Note("llama.cpp takes the long list for a whole context of more than the trained length, for "
                "short sequences in it too; effective_length is that context");
  return true;
}

// llama.cpp multiplies by 0.1·ln(s) + 1 inside its operator, and its context makes of it what the keys say.
void GgufReader::ReadYarn(RopeDraft& rope, double factor) {
  YarnScaling yarn;
  const auto take = [&](absl::string_view name, absl::string_view field, double& member) {
    member = rope.draft.Take(field, Number(name).value_or(Default(member, name)));
  };
  yarn.factor = factor;
  yarn.original_max_len = OriginalLength(rope.spec, "rope.yarn.original_max_len", rope.draft);
  take("rope.scaling.yarn_beta_fast", "rope.yarn.beta_fast", yarn.beta_fast);
  take("rope.scaling.yarn_beta_slow", "rope.yarn.beta_slow", yarn.beta_slow);
  take("rope.scaling.yarn_ext_factor", "rope.yarn.extrapolation_factor", yarn.extrapolation_factor);
  double magnitude = 1.0;
  take("rope.scaling.attn_factor", "rope.attention_factor", magnitude);
  take("rope.scaling.yarn_attn_factor", "rope.attention_factor (yarn)", magnitude);
  const auto logarithm = Number("rope.scaling.yarn_log_multiplier");
  const bool deepseek = row_.name == "deepseek2";
  if (logarithm) {
    // Converters store a tenth of mscale_all_dim.
    const double all = YarnMagnitude(factor, logarithm->value * 10);
    magnitude *= deepseek ? 1.0 : YarnMagnitude(factor, 1) / all;
    if (deepseek) {
      rope.draft.table().softmax_scale = all * all;
      rope.draft.Rule("softmax_scale", NumberText(all * all), "(yarn_log_multiplier * ln(factor) + 1)^2");
    }
  } else if (yarn.extrapolation_factor != 0) {
    magnitude *= YarnMagnitude(factor, 1);
  }
  rope.spec.attention_factor = magnitude;
  rope.spec.scaling = yarn;
}

void GgufReader::ReadScaling(RopeDraft& rope, bool sliding) {
  if (sliding) return;  // llama.cpp scales only the layers with full attention
  auto factor = Number("rope.scaling.factor");
  if (!factor) factor = Number("rope.scale_linear");
  const double s = factor && factor->value != 0 ? factor->value : 1.0;
  const auto type = metadata_.Text(Key("rope.scaling.type"), reading_.bad);
  const std::string name = type ? type->value : "linear";
  rope.draft.Note("rope.scaling", name, type.value_or(Default(name, "rope.scaling.type")));
  if (name != "none" && name != "linear" && name != "yarn" && name != "longrope") {
    reading_.bad.Add(Key("rope.scaling.type"), Quote(name), "none, linear, yarn, longrope");
    return;
  }
  if (ReadFactorTensors(rope, name == "linear" ? s : 1.0)) return;
  const auto alpha = Number("rope.scaling.alpha");
  if (alpha && row_.alpha && alpha->value != 0) {
    rope.spec.scaling = NtkAlphaScaling{rope.draft.Take("rope.ntk_alpha.alpha", *alpha)};
  } else if (name == "yarn") {
    if (factor) rope.draft.Take("rope.yarn.factor", *factor);
    ReadYarn(rope, s);
  } else if (name == "linear" && factor) {
    rope.spec.scaling = LinearScaling{
        rope.draft.Take("rope.linear.factor", Found<double>{s, factor->path, factor->source, false})};
  } else if (name == "longrope") {
    reading_.bad.AddText("rope_factors_long.weight", "is missing; allowed: the two lists of longrope");
  }
}

// Four sections; llama.cpp's own interleaving gives what is left over to the fourth axis.
void GgufReader::ReadAxes(RopeDraft& rope) {
  const auto sections = metadata_.Integers(Key("rope.dimension_sections"), reading_.bad);
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
  const ModelScope scope = {metadata_, {}, &kFamily, true, query_.runtime, query_.effective_length};
  const Layer layer = {name, metadata_, sliding, false,
                       name == "main" ? std::string(row_.applies_to)
                       : sliding      ? "layers with sliding attention"
                                      : "layers with full attention"};
  // ggml's mode of sections is half-split; converters permute the weights of the models that were not.
  const bool sections = row_.mrope_with_sections && metadata_.Find(Key("rope.dimension_sections")) != nullptr;
  const bool norm = row_.rope == GgmlRope::kNorm && !sections;
  const Pairing pairing = norm ? Pairing::kInterleaved : Pairing::kHalfSplit;
  RopeDraft rope = {scope, layer, reading_, TableDraft(name, pairing, layer.applies_to)};
  RopeSpec& spec = rope.spec;
  spec.head_dim = rope.draft.Take("rope.head_dim", HeadDim(sliding));
  const auto own = sliding ? Integer("rope.dimension_count_swa") : std::nullopt;
  const auto written = own ? own : Integer("rope.dimension_count");
  spec.rotary_dim =
      rope.draft.Take("rope.rotary_dim", written.value_or(Default(spec.head_dim, "rope.dimension_count")));
  spec.max_len = rope.draft.Take("rope.max_len",
                                 Integer("context_length").value_or(Default(spec.max_len, "context_length")));
  spec.base = rope.draft.Take("rope.base", Base(sliding));
  spec.effective_length = query_.effective_length;
  if (!reading_.bad.empty()) return;
  ReadScaling(rope, sliding);
  ReadAxes(rope);
  FinishRope(std::move(rope));
}

void GgufReader::ReadTemperature() {
  const auto scale = Number("attention.temperature_scale");
  const auto length = Integer("attention.temperature_length");
  if (!reading_.bad.empty() || (!scale && !row_.llama4_temperature)) return;
  TableDraft draft("query_temperature", Pairing::kNone,
                   row_.llama4_temperature ? "queries of layers without rotation" : "all queries");
  QueryTemperatureSpec spec;
  spec.position_offset = row_.llama4_temperature ? 1 : 0;
  spec.scale = draft.Take("query_temperature.scale",
                          scale.value_or(Default(spec.scale, "attention.temperature_scale")));
  const auto trained =
      row_.llama4_temperature ? std::nullopt : Integer("rope.scaling.original_context_length");
  spec.floor_len = draft.Take(
      "query_temperature.floor_len",
      length ? *length : trained.value_or(Default(spec.floor_len, "attention.temperature_length")));
  spec.max_len = draft.Take("query_temperature.max_len",
                            Integer("context_length").value_or(Default(spec.max_len, "context_length")));
  std::move(draft).Finish(spec, reading_);
}

void GgufReader::ReadPositions() {
  constexpr absl::string_view kTensor = "position_embd.weight";
  const ConfigObject tensor = tensors_.Child(kTensor, reading_.bad);
  if (tensors_.Find(kTensor) == nullptr || !reading_.bad.empty()) return;
  const auto shape = tensor.Integers("shape", reading_.bad);
  const int64_t rows = shape && shape->value.size() == 2 ? shape->value[1] : 0;
  AddLearnedTable(TableDraft("learned", Pairing::kNone), kTensor, Default(int64_t{0}, "position_offset"),
                  rows, reading_);
}

void GgufReader::ReadBuckets() {
  const auto buckets = Integer("attention.relative_buckets_count");
  if (!buckets || !reading_.bad.empty()) return;
  for (const bool encoder : {true, false}) {
    if (!encoder && prefix_ == "t5encoder") continue;
    TableDraft draft(encoder ? "encoder" : "decoder", Pairing::kNone,
                     encoder ? "the encoder" : "the decoder");
    RelativeBucketSpec spec;
    spec.rule =
        T5Buckets{.buckets = draft.Take("relative_bucket.t5.buckets", *buckets), .bidirectional = encoder};
    spec.max_len = draft.Take("relative_bucket.max_len",
                              Integer("context_length").value_or(Default(spec.max_len, "context_length")));
    std::move(draft).Finish(spec, reading_);
  }
  reading_.Note("the bias is learned: enc.blk.0.attn_rel_b.weight and dec.blk.0.attn_rel_b.weight");
}

bool GgufReader::Read(const std::string& architecture) {
  prefix_ = architecture;
  const GgufArchitecture* row = FindArchitecture(architecture);
  const bool rotary_key =
      metadata_.Find(Key("rope.freq_base")) || metadata_.Find(Key("rope.dimension_count"));
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
    const bool sliding = metadata_.Find(Key("rope.freq_base_swa")) ||
                         (row_.sliding_base != 0 && Integer("attention.sliding_window"));
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
  const bool known = GgufReader(metadata, values, query, reading).Read(architecture->value);
  if (!reading.bad.empty()) return reading.bad.ToStatus();
  if (!reading.unserved.empty()) return reading.unserved.ToStatus(absl::StatusCode::kUnimplemented);
  return ModelTables{architecture->value, known, std::move(reading.tables), std::move(reading.notes)};
}

}  // namespace posenc

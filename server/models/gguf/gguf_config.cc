#include "server/models/gguf/gguf_config.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/models/readers/absolute_config.h"
#include "server/models/config/config_json.h"
#include "server/models/gguf/gguf_keys.h"
#include "server/models/gguf/gguf_rope.h"

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
  void ReadTemperature();
  void ReadPositions();
  void ReadBuckets();
  void NoteUnreadKeys();

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
  if (!keys_.HasTensor(kTensor) && !row_.learned) return;
  const std::vector<int64_t> shape = keys_.HasTensor(kTensor) ? keys_.Shape(kTensor) : std::vector<int64_t>();
  const auto longest = keys_.Integer("context_length");
  const int64_t rows = shape.size() == 2 ? shape[1] : longest ? longest->value : 0;
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
  const auto rotates = [&] { return keys_.Has("rope.freq_base") || keys_.Has("rope.dimension_count"); };
  if (row == nullptr && !rotates()) {
    reading_.unserved.AddText("general.architecture",
                              absl::StrCat("is ", Quote(architecture),
                                           ", which is not in the list, and no key of "
                                           "it rotates; allowed: one of the list"));
    return false;
  }
  if (row == nullptr) reading_.Note(absl::StrCat("general.architecture ", Quote(architecture),
                                                 " is not in the list: half-split pairing is assumed"));
  // Where the file has keys of sliding layers, they mean what most architectures take them for.
  constexpr GgufArchitecture kUnknown = {
      .name = "", .rope = GgmlRope::kNeox, .window = {.own_base = true, .plain = true}};
  row_ = row != nullptr ? *row : kUnknown;
  ReadPositions();
  ReadBuckets();
  if (HasAlibi()) {
    ReadAlibi();
  } else if (row_.rope != GgmlRope::kNone) {
    ReadGgufRope(keys_, row_, row != nullptr, query_);
  }
  if (!row_.note.empty()) reading_.Note(std::string(row_.note));
  ReadTemperature();
  if (reading_.ok() && reading_.tables.empty()) reading_.Note("the model has no positional table");
  NoteUnreadKeys();
  return row != nullptr;
}

// Names the keys of rotation that no rule has read.
void GgufReader::NoteUnreadKeys() {
  const std::string prefix = keys_.Key("rope.");
  for (const std::string& key : keys_.metadata().UnreadKeys()) {
    if (absl::StartsWith(key, prefix)) reading_.Note(absl::StrCat(PathPart(key), " is not used"));
  }
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
  const ConfigObject metadata = ConfigObject::Root(*read.json());
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
  return ModelTables{architecture->value, known, std::move(reading.tables), std::move(reading.notes),
                     std::move(reading.layers_without_table)};
}

}  // namespace posenc

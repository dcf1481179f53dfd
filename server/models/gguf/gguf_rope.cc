#include "server/models/gguf/gguf_rope.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/shortest_decimal.h"
#include "server/models/gguf/gguf_layers.h"
#include "server/models/rotary/layer_plan.h"

namespace posenc {
namespace {

// What one table is for.
struct GgufTable {
  std::string name = "main";
  bool sliding = false;  // the keys and the rules of the layers with a sliding window
  bool full = false;     // those of the others, where there are both
  bool compressed = false;  // those of layers that compress their keys
  bool plain = false;       // without the file's scaling
  std::string applies_to = "";
  std::vector<int64_t> layers = {};
};

class RopeReader {
 public:
  RopeReader(const GgufKeys& keys, const GgufArchitecture& row, bool known, const ModelQuery& query)
      : keys_(keys), row_(row), known_(known), query_(query), reading_(keys.reading()), plan_(PlanGguf(keys, row)) {}

  void Read();

 private:
  bool IsSwitchedOff();
  bool HasTwoTables() const;
  std::vector<GgufTable> Tables() const;
  void ReadTable(const GgufTable& table);
  void ReadIndexer(const RopeDraft& rope);
  void NoteStill();
  Found<Pairing> ReadPairing() const;
  Found<int64_t> HeadDim(bool sliding);
  Found<int64_t> RotaryDim(const GgufTable& table, int64_t head_dim);
  Found<double> Base(bool sliding);
  void ReadAxes(RopeDraft& rope);
  bool UsesSections() const;

  const GgufKeys& keys_;
  const GgufArchitecture& row_;
  bool known_;
  const ModelQuery& query_;
  Reading& reading_;
  GgufLayers plan_;
};

bool RopeReader::IsSwitchedOff() {
  const auto off = [&](absl::string_view key, absl::string_view value) {
    reading_.Note(absl::StrCat(keys_.Key(key), " is ", value, ": llama.cpp rotates no layer"));
    return true;
  };
  constexpr absl::string_view kSwitch = "rope.scaling.finetuned";
  const Json* finetuned = keys_.metadata().Find(keys_.Key(kSwitch));
  if (row_.finetuned_switch && finetuned != nullptr && *finetuned == Json(false)) return off(kSwitch, "false");
  const Json* width = keys_.metadata().Find(keys_.Key("rope.dimension_count"));
  if (width != nullptr && width->is_number() && width->get<double>() == 0) return off("rope.dimension_count", "0");
  return false;
}

// Whether layers with and without a sliding window rotate differently.
bool RopeReader::HasTwoTables() const {
  if (!plan_.window || row_.still == GgufStill::kFull) return false;
  const GgufWindow& window = row_.window;
  const bool own_base = window.own_base && (window.base != 0 || keys_.Has("rope.freq_base_swa"));
  const bool scaled = keys_.Has("rope.scaling.type") || keys_.Has("rope.scaling.factor") ||
                      keys_.HasTensor("rope_freqs.weight");
  const bool own_width = keys_.Has("rope.dimension_count_swa") || keys_.Has("attention.key_length_swa");
  return own_base || (window.plain && scaled) || own_width || row_.full_halved;
}

std::vector<GgufTable> RopeReader::Tables() const {
  if (row_.compressed) {
    return {{.name = "compress", .compressed = true, .applies_to = "layers of type compress",
             .layers = plan_.Compressed(true)},
            {.name = "main", .plain = true, .applies_to = "layers of type main", .layers = plan_.Compressed(false)}};
  }
  if (HasTwoTables()) {
    GgufTable full = {.name = "full_attention", .full = true, .applies_to = "layers with full attention",
                      .layers = plan_.Rotating(false)};
    GgufTable sliding = {.name = "sliding_attention", .sliding = true,
                         .applies_to = "layers with sliding attention", .layers = plan_.Rotating(true)};
    if (row_.still != GgufStill::kEveryFourth || !full.layers.empty()) return {full, sliding};
    return {sliding};
  }
  GgufTable all = {.layers = plan_.Rotating()};
  if (row_.still == GgufStill::kFull) {
    all.sliding = plan_.window;
    all.applies_to = plan_.window || plan_.layers.empty()
                         ? "layers with a sliding window, where the model has such layers; the others do not "
                           "rotate"
                         : "";
  } else if (row_.still == GgufStill::kEveryFourth) {
    all.applies_to = "all layers except every fourth, which does not rotate";
  } else if (!plan_.Still().empty()) {
    all.applies_to = absl::StrCat("layers ", LayersText(all.layers), "; the others do not rotate");
  } else if (row_.hybrid || row_.attention_period != 0) {
    all.applies_to = "layers with attention; the others do not rotate";
  }
  return {all};
}

Found<Pairing> RopeReader::ReadPairing() const {
  // ggml's mode of sections is half-split; converters permute the weights of the models that were not.
  const bool norm = row_.rope == GgmlRope::kNorm && !UsesSections();
  const Pairing pairing = norm ? Pairing::kInterleaved : Pairing::kHalfSplit;
  if (!known_) return {pairing, "pairing", "assumed for an unknown architecture", true, true};
  return {pairing, "pairing", absl::StrCat("llama.cpp's rope type of ", row_.name), true};
}

Found<int64_t> RopeReader::HeadDim(bool sliding) {
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

Found<int64_t> RopeReader::RotaryDim(const GgufTable& table, int64_t head_dim) {
  const auto own = table.sliding ? keys_.Integer("rope.dimension_count_swa") : std::nullopt;
  auto written = own ? own : keys_.Integer("rope.dimension_count");
  if (!written) written = keys_.Default(head_dim, "rope.dimension_count");
  if (table.full && row_.full_halved) {
    written->value /= 2;
    absl::StrAppend(&written->source, " / 2 (built into llama.cpp)");
  }
  return *written;
}

Found<double> RopeReader::Base(bool sliding) {
  constexpr double kBuiltIn = 10000.0;
  if (row_.fixed_base) return {kBuiltIn, keys_.Key("rope.freq_base"), "built into llama.cpp", true};
  if (sliding && row_.window.own_base) {
    const auto own = keys_.Number("rope.freq_base_swa");
    if (own || row_.window.base != 0) return own.value_or(keys_.Default(row_.window.base, "rope.freq_base_swa"));
  }
  const auto written = keys_.Number("rope.freq_base");
  if (!written) {
    reading_.Note(absl::StrCat(keys_.Key("rope.freq_base"), " is missing: llama.cpp takes 10000, whatever the "
                               "model was trained with"));
  }
  return written.value_or(keys_.Default(kBuiltIn, "rope.freq_base"));
}

// llama.cpp takes sections for such only where the first two have pairs.
bool RopeReader::UsesSections() const {
  if (!row_.mrope_with_sections) return false;
  const Json* sections = keys_.metadata().Find(keys_.Key("rope.dimension_sections"));
  if (sections == nullptr || !sections->is_array() || sections->size() < 2) return false;
  const auto positive = [](const Json& n) { return n.is_number() && n.get<double>() > 0; };
  return positive((*sections)[0]) && positive((*sections)[1]);
}

// Four sections; llama.cpp's own interleaving gives what is left over to the fourth axis.
void RopeReader::ReadAxes(RopeDraft& rope) {
  const bool interleaved = row_.rope == GgmlRope::kInterleaved;
  const bool wanted = interleaved || row_.rope == GgmlRope::kMrope || UsesSections();
  if (!wanted) return;
  const auto sections = keys_.Integers("rope.dimension_sections");
  if (!sections) return;
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
  axes.leftovers_on_first = axes.map == AxisMap::kInterleaved;
  rope.draft.Rule("rope.axes.map", interleaved ? "interleaved" : "contiguous", "built into llama.cpp");
  rope.spec.axes = std::move(axes);
}

void RopeReader::ReadTable(const GgufTable& table) {
  static constexpr ModelFamily kFamily = {.class_name = "llama.cpp"};
  const ModelScope scope = {keys_.metadata(), {}, &kFamily, true, query_.runtime, query_.effective_length};
  const Layer layer = {.name = table.name, .block = keys_.metadata(), .sliding = table.sliding,
                       .applies_to = table.applies_to, .layers = table.layers};
  RopeDraft rope = {scope, layer, reading_, TableDraft(table.name, Pairing::kNone, table.applies_to)};
  rope.draft.table().layers = table.layers;
  RopeSpec& spec = rope.spec;
  rope.draft.Take(ReadPairing());
  spec.head_dim = rope.draft.Take("rope.head_dim", HeadDim(table.sliding));
  spec.rotary_dim = rope.draft.Take("rope.rotary_dim", RotaryDim(table, spec.head_dim));
  const auto longest = keys_.Integer("context_length");
  spec.max_len = rope.draft.Take("rope.max_len", longest.value_or(keys_.Default(spec.max_len, "context_length")));
  constexpr absl::string_view kCompressedBase = "attention.compress_rope_freq_base";
  const auto compressed = table.compressed ? keys_.Number(kCompressedBase) : std::nullopt;
  spec.base = rope.draft.Take("rope.base", compressed ? *compressed : Base(table.sliding));
  spec.effective_length = query_.effective_length;
  if (!reading_.bad.empty()) return;
  if (row_.trailing && spec.rotary_dim < spec.head_dim) {
    rope.draft.table().rotary_begin = spec.head_dim - spec.rotary_dim;
  }
  const bool plain = (table.sliding && row_.window.plain) || row_.fixed_base || table.plain;
  if (!plain) ReadGgufScaling(keys_, row_, rope);
  ReadAxes(rope);
  const RopeDraft attention = rope;
  FinishRope(std::move(rope));
  if (reading_.bad.empty()) ReadIndexer(attention);
}

void RopeReader::ReadIndexer(const RopeDraft& rope) {
  // Layers with a sliding window have no indexer.
  if (row_.indexer == Pairing::kNone || rope.layer.sliding) return;
  constexpr int64_t kUsualWidth = 128;
  constexpr absl::string_view kWidth = "attention.indexer.key_length";
  RopeDraft indexer = {rope.scope, rope.layer, reading_, TableDraft("indexer", Pairing::kNone), rope.spec};
  indexer.indexer = true;
  TableDraft& draft = indexer.draft;
  draft.table().applies_to = "the indexer of sparse attention";
  draft.table().layers = rope.layer.layers;
  draft.Take(Found<Pairing>{row_.indexer, "pairing", absl::StrCat("indexer of llama.cpp's ", row_.name), true});
  indexer.spec.head_dim =
      draft.Take("rope.head_dim", keys_.Integer(kWidth).value_or(keys_.Default(kUsualWidth, kWidth)));
  draft.Rule("rope.rotary_dim", absl::StrCat(indexer.spec.rotary_dim), "the attention's rotated slice");
  draft.Rule("rope.base", ShortestDecimal(indexer.spec.base), "the attention's base");
  FinishRope(std::move(indexer));
}

void RopeReader::NoteStill() {
  std::vector<int64_t> still = plan_.Still();
  if (still.empty()) return;
  if (plan_.NoneRotates()) {
    reading_.Note(absl::StrCat("no layer rotates (", plan_.still_source, ")"));
    return;
  }
  reading_.Note(absl::StrCat("layers without a table: ", LayersText(still), " of ", plan_.layers.size(), " (",
                             plan_.still_source, ")"));
  reading_.layers_without_table = std::move(still);
}

void RopeReader::Read() {
  if (IsSwitchedOff()) return;
  if (!plan_.NoneRotates()) {
    for (const GgufTable& table : Tables()) {
      if (reading_.bad.empty()) ReadTable(table);
    }
  }
  NoteStill();
}

}  // namespace

void ReadGgufRope(const GgufKeys& keys, const GgufArchitecture& row, bool known, const ModelQuery& query) {
  RopeReader(keys, row, known, query).Read();
}

}  // namespace posenc

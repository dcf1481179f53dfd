#include "server/models/parts/vision_config.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/models/readers/absolute_config.h"
#include "server/models/parts/vision_models.h"

namespace posenc {
namespace {

// Blocks of patches where the file does not say their side.
constexpr int64_t kUsualMerge = 2;

constexpr absl::string_view kWidthKeys[] = {"embed_dim", "hidden_size", "d_model"};
constexpr absl::string_view kQwenWidthKeys[] = {"embed_dim"};
constexpr absl::string_view kHeadsKeys[] = {"num_heads", "num_attention_heads", "attention_heads"};

// Reads one part of a larger model.
class PartReader {
 public:
  PartReader(const ConfigObject& part, const VisionModel& model, Reading& reading)
      : part_(part), model_(model), reading_(reading) {}

  void Read();

 private:
  template <typename T>
  Found<T> Default(T value, absl::string_view key) const {
    return {value, part_.PathOf(key), absl::StrCat("default of ", model_.class_name), true};
  }
  Found<int64_t> IntegerOr(KeyNames keys, int64_t value) {
    return part_.Integer(keys, reading_.bad).value_or(Default(value, keys.front()));
  }
  Found<int64_t> Width();
  Found<int64_t> HeadDim();

  // The width, the base and an even split of the pairs over two axes.
  RopeSpec TwoAxes(AxisMap map, TableDraft& draft);
  Grid ImageGrid(TableDraft& draft);
  void Patches(TableDraft& draft, Grid& grid);
  void ReadRows();
  void ReadPicture();
  void ReadMemory();
  void ReadEncoder();

  const ConfigObject& part_;
  const VisionModel& model_;
  Reading& reading_;
};

// Qwen2-VL's file has the text model's width under hidden_size.
Found<int64_t> PartReader::Width() {
  const bool qwen2 = model_.model_type == "qwen2_vl";
  return IntegerOr(qwen2 ? KeyNames(kQwenWidthKeys) : KeyNames(kWidthKeys), model_.hidden_size);
}

Found<int64_t> PartReader::HeadDim() {
  if (const auto written = part_.Integer("head_dim", reading_.bad)) return *written;
  Found<int64_t> width = Width();
  const Found<int64_t> heads = IntegerOr(kHeadsKeys, model_.heads);
  if (heads.value < 1 || width.value < 1 || width.value % heads.value != 0) {
    reading_.bad.Add(heads.path, heads.value, absl::StrCat("a divisor of ", width.path, ", ", width.value));
    return {4, width.path, width.source, true};
  }
  width.value /= heads.value;
  width.source = absl::StrCat(width.source, " / ", heads.source);
  width.defaulted = width.defaulted && heads.defaulted;
  return width;
}

RopeSpec PartReader::TwoAxes(AxisMap map, TableDraft& draft) {
  RopeSpec spec;
  spec.head_dim = draft.Take("rope.head_dim", HeadDim());
  const ConfigObject block = part_.Child("rope_parameters", reading_.bad);
  auto base = block.Number("rope_theta", reading_.bad);
  if (!base) base = part_.Number("rope_theta", reading_.bad);
  spec.base = draft.Take("rope.base", base.value_or(Default(model_.base, "rope_theta")));
  if (spec.head_dim % 4 != 0) {
    reading_.bad.Add(part_.PathOf("hidden_size"), spec.head_dim, "a head whose width is a multiple of 4");
    return spec;
  }
  spec.axes = RopeAxes{.map = map, .sections = {spec.head_dim / 4, spec.head_dim / 4}};
  return spec;
}

// The patches of the picture that the model is made for; image_size is one side or both.
void PartReader::Patches(TableDraft& draft, Grid& grid) {
  constexpr absl::string_view kPatch[] = {"patch_size"};
  const Found<int64_t> patch = IntegerOr(kPatch, model_.patch_size);
  std::vector<int64_t> sides;
  const Json* image = part_.Find("image_size");
  if (image != nullptr && image->is_array()) {
    const auto both = part_.Integers("image_size", reading_.bad);
    if (both) sides = both->value;
  } else {
    constexpr absl::string_view kSide[] = {"image_size"};
    const int64_t side = IntegerOr(kSide, model_.image_size).value;
    sides = {side, side};
  }
  const bool fits =
      sides.size() == 2 && patch.value >= 1 && sides[0] >= patch.value && sides[1] >= patch.value;
  if (!fits) {
    reading_.bad.AddText(part_.PathOf("image_size"),
                         absl::StrCat("is no picture of at least one patch; allowed: a side, or both, of at "
                                      "least patch_size, ", patch.value));
    return;
  }
  grid.sizes = {sides[0] / patch.value, sides[1] / patch.value};
  draft.Take("rope.grid.sizes",
             Found<std::vector<int64_t>>{grid.sizes, part_.PathOf("image_size"),
                                         "image_size / patch_size", image == nullptr});
}

Grid PartReader::ImageGrid(TableDraft& draft) {
  Grid grid;
  Patches(draft, grid);
  return grid;
}

void PartReader::ReadRows() {
  TableDraft draft("vision", model_.pairing, "vision");
  RopeSpec spec = TwoAxes(AxisMap::kSeparate, draft);
  if (model_.rule == VisionRule::kOwnHalves) {
    spec.layout = RopeLayout::kSplitAxisDuplicated;
    reading_.Note("the vision model's pairs are half-split inside each axis' half of the head; the axes are "
                  "those of its pixel positions, in their order");
  } else {
    const auto written = part_.Integer("spatial_merge_size", reading_.bad);
    const int64_t merge = written ? written->value : kUsualMerge;
    reading_.Note(absl::StrCat("the picture decides the vision table's grid: rows are patches, the axes row "
                               "and column, in blocks of ", merge, " by ", merge,
                               " (spatial_merge_size), repeated for each frame"));
  }
  std::move(draft).Finish(spec, reading_);
}

void PartReader::ReadPicture() {
  TableDraft draft("vision", model_.pairing, "vision");
  const bool pixtral = model_.rule == VisionRule::kEvenOdd;
  RopeSpec spec = TwoAxes(pixtral ? AxisMap::kEvenOdd : AxisMap::kSeparate, draft);
  spec.grid = ImageGrid(draft);
  if (pixtral) reading_.Note("smaller pictures use the vision table's rows by row * largest side + column");
  if (model_.rule == VisionRule::kColumns) {
    spec.grid->starts = {1, 1};
    spec.grid->trailing_rows = 1;
    reading_.Note("the vision table's first axis is the column: patch (row, column) is table row column * "
                  "rows + row, and the last row is the class token's");
  }
  if (model_.rule == VisionRule::kCentred) {
    if (spec.axes) spec.axes->full_turns = true;
    spec.grid->coordinates = GridCoordinates::kCentred;
    reading_.Note("the vision table is of patches alone; class and register tokens do not rotate");
  }
  if (reading_.bad.empty()) std::move(draft).Finish(spec, reading_);
}

void PartReader::ReadMemory() {
  TableDraft draft("vision_memory_attention", model_.pairing, "attention to memory");
  RopeSpec spec;
  constexpr absl::string_view kWidth[] = {"memory_attention_hidden_size"};
  constexpr absl::string_view kHeads[] = {"memory_attention_num_attention_heads"};
  const Found<int64_t> width = IntegerOr(kWidth, model_.hidden_size);
  const Found<int64_t> heads = IntegerOr(kHeads, model_.heads);
  if (heads.value < 1 || width.value % (4 * heads.value) != 0) {
    reading_.bad.Add(width.path, width.value, "a multiple of 4 for each head");
    return;
  }
  spec.head_dim = draft.Take(
      "rope.head_dim", Found<int64_t>{width.value / heads.value, width.path, width.source, width.defaulted});
  spec.base = draft.Take("rope.base", part_.Number("memory_attention_rope_theta", reading_.bad)
                                          .value_or(Default(model_.base, "memory_attention_rope_theta")));
  spec.axes = RopeAxes{.map = AxisMap::kSeparate, .sections = {spec.head_dim / 4, spec.head_dim / 4}};
  const auto sizes = part_.Integers("memory_attention_rope_feat_sizes", reading_.bad);
  spec.grid = Grid{.sizes = draft.Take("rope.grid.sizes",
                                       sizes.value_or(Default(std::vector<int64_t>{64, 64},
                                                              "memory_attention_rope_feat_sizes")))};
  reading_.Note("the first axis of the memory attention's table is the column");
  std::move(draft).Finish(spec, reading_);
}

void PartReader::ReadEncoder() {
  TableDraft draft("audio", Pairing::kNone, "the audio encoder");
  SinusoidalSpec spec;
  spec.order = SinusoidalOrder::kSinCos;
  spec.frequency_shift = 1;
  spec.d_model = draft.Take("sinusoidal.d_model", Width());
  constexpr absl::string_view kRows[] = {"max_source_positions"};
  spec.max_len = draft.Take("sinusoidal.max_len", IntegerOr(kRows, 1500));
  std::move(draft).Finish(spec, reading_);
}

void PartReader::Read() {
  switch (model_.rule) {
    case VisionRule::kRows:
    case VisionRule::kOwnHalves: ReadRows(); break;
    case VisionRule::kEvenOdd:
    case VisionRule::kColumns:
    case VisionRule::kCentred: ReadPicture(); break;
    case VisionRule::kMemory: ReadMemory(); break;
    case VisionRule::kEncoder: ReadEncoder(); break;
    case VisionRule::kLearned:
      AddLearnedTable(TableDraft("vision", Pairing::kNone, "vision"), model_.tensor,
                      Default(int64_t{0}, "position_offset"), 0, reading_);
      break;
    case VisionRule::kNone: break;
  }
  if (!model_.note.empty()) reading_.Note(absl::StrCat("vision: ", model_.note));
}

void ReadPart(const ConfigObject& root, absl::string_view key, absl::string_view model_type,
              Reading& reading) {
  const Json* value = root.Find(key);
  if (value == nullptr || !value->is_object() || !reading.bad.empty()) return;
  const ConfigObject part(*value, root.PathOf(key));
  const auto type = part.Text("model_type", reading.bad);
  const VisionModel* model = type ? FindVisionModel(type->value) : nullptr;
  if (model == nullptr && key == "vision_config") model = FindVisionModel(model_type);
  if (model != nullptr) return PartReader(part, *model, reading).Read();
  reading.Note(
      absl::StrCat(part.PathOf("model_type"), ": ", type ? Quote(type->value) : "it",
                   " is not in the list of vision and audio models; its tables are not in this answer"));
}

}  // namespace

bool IsVisionModel(absl::string_view model_type) { return FindVisionModel(model_type) != nullptr; }

void ReadVisionTables(const ConfigObject& root, absl::string_view model_type, Reading& reading) {
  ReadPart(root, "vision_config", model_type, reading);
  ReadPart(root, "audio_config", model_type, reading);
  const ConfigObject thinker = root.Child("thinker_config", reading.bad);
  if (!thinker.empty()) {
    ReadPart(thinker, "vision_config", model_type, reading);
    ReadPart(thinker, "audio_config", model_type, reading);
  }
}

void ReadVisionModel(const ConfigObject& root, absl::string_view model_type, Reading& reading) {
  const VisionModel* model = FindVisionModel(model_type);
  if (model != nullptr) PartReader(root, *model, reading).Read();
}

}  // namespace posenc

#include "server/models/diffusers/diffusers_config.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

constexpr absl::string_view kClassName = "_class_name";
constexpr absl::string_view kAxesKeys[] = {"axes_dims_rope", "rope_axes_dim", "axes_dim_rope", "axes_dim"};

class ClassReader;

// A class, whose defaults these are. Zero and empty: the class has none.
struct DiffusersClass {
  absl::string_view name;
  void (ClassReader::*read)() = nullptr;
  Pairing pairing = Pairing::kInterleaved;
  std::vector<int64_t> axes = {};  // widths of the axes
  int64_t head_dim = 0;
  int64_t heads = 0;
  int64_t sample_size = 0;
  int64_t pos_embed_max_size = 0;
  double base = 10000.0;
  std::string note = "";
};

// Reads the tables of one class.
class ClassReader {
 public:
  ClassReader(const ConfigObject& root, const DiffusersClass& row, Reading& reading)
      : root_(root), row_(row), reading_(reading) {}

  void ReadAxes();
  void ReadThirds();
  void ReadCogVideo();
  void ReadCosmos();
  void ReadLtx();
  void ReadPatchGrid();
  void ReadTimestep();

 private:
  template <typename T>
  Found<T> Default(T value, absl::string_view key) const {
    return {std::move(value), root_.PathOf(key), absl::StrCat("default of ", row_.name), true};
  }
  Found<int64_t> IntegerOr(absl::string_view key, int64_t value) {
    return root_.Integer(key, reading_.bad).value_or(Default(value, key));
  }
  RopeSpec Spec(int64_t head_dim, const std::vector<int64_t>& widths, TableDraft& draft);
  void Finish(const RopeSpec& spec, TableDraft draft);
  TableDraft Draft() { return TableDraft("main", row_.pairing); }
  // Takes the width of a head; a violation and a width of one pair where it is out of range.
  int64_t HeadDim(TableDraft& draft);

  const ConfigObject& root_;
  const DiffusersClass& row_;
  Reading& reading_;
};

int64_t ClassReader::HeadDim(TableDraft& draft) {
  const Found<int64_t> found = IntegerOr("attention_head_dim", row_.head_dim);
  if (found.value >= 16 && found.value <= limits::kMaxWidth) return draft.Take("rope.head_dim", found);
  reading_.bad.Add(found.path, found.value, absl::StrCat("16 to ", limits::kMaxWidth));
  return 16;
}

// A spec of `widths`, one for each axis, each with frequencies of its own.
RopeSpec ClassReader::Spec(int64_t head_dim, const std::vector<int64_t>& widths, TableDraft& draft) {
  RopeSpec spec;
  spec.head_dim = head_dim;
  spec.axes = RopeAxes{.map = AxisMap::kSeparate};
  for (const int64_t width : widths) {
    spec.axes->sections.push_back(width / 2);
    if (width % 2 != 0) reading_.bad.Add(root_.PathOf(kAxesKeys[0]), width, "even widths");
  }
  constexpr absl::string_view kBaseKeys[] = {"rope_theta", "theta"};
  spec.base = draft.Take("rope.base",
                         root_.Number(kBaseKeys, reading_.bad).value_or(Default(row_.base, "rope_theta")));
  return spec;
}

void ClassReader::Finish(const RopeSpec& spec, TableDraft draft) {
  reading_.Note("the picture, or the video, decides the positions on each axis; rows by index have one "
                "position for all axes");
  std::move(draft).Finish(spec, reading_);
}

// The file gives the widths of the axes.
void ClassReader::ReadAxes() {
  TableDraft draft = Draft();
  std::optional<Found<std::vector<int64_t>>> widths;
  for (const absl::string_view key : kAxesKeys) {
    if (!widths) widths = root_.Integers(key, reading_.bad);
  }
  if (!widths) widths = Default(row_.axes, kAxesKeys[0]);
  if (widths->value.empty() || widths->value.size() > static_cast<size_t>(limits::kMaxAxes)) {
    reading_.bad.AddText(widths->path, absl::StrCat("has ", widths->value.size(), " entries; allowed: 1 to ",
                                                    limits::kMaxAxes, ", the width of each axis"));
    return;
  }
  int64_t head_dim = 0;
  for (const int64_t width : widths->value) head_dim += std::clamp<int64_t>(width, 0, limits::kMaxWidth);
  draft.Take("rope.head_dim", Found<int64_t>{head_dim, widths->path, absl::StrCat("sum of ", widths->source),
                                             widths->defaulted});
  draft.Take("rope.axes.sections", *widths);
  RopeSpec spec = Spec(head_dim, widths->value, draft);
  Finish(spec, std::move(draft));
}

// Two axes of space with an even third each, time with the rest: Wan, Allegro.
void ClassReader::ReadThirds() {
  TableDraft draft = Draft();
  const int64_t head_dim = HeadDim(draft);
  const int64_t space = 2 * (head_dim / 6);
  draft.Rule("rope.axes.sections", absl::StrCat(head_dim / 2 - space, ",", space / 2, ",", space / 2),
             "attention_head_dim: height and width 2 * floor(d / 6), time the rest");
  Finish(Spec(head_dim, {head_dim - 2 * space, space, space}, draft), std::move(draft));
}

void ClassReader::ReadCogVideo() {
  if (!root_.IsTruthy("use_rotary_positional_embeddings")) {
    reading_.Note("use_rotary_positional_embeddings is not true: the model adds sines and cosines of time, "
                  "height and width, a grid table (diffusers' 3-D rule)");
    return;
  }
  TableDraft draft = Draft();
  const int64_t head_dim = HeadDim(draft);
  const int64_t space = head_dim / 8 * 3;
  draft.Rule("rope.axes.sections", "t,h,w", "attention_head_dim: time d / 4, height and width 3 / 8 each");
  Finish(Spec(head_dim, {head_dim - 2 * space, space, space}, draft), std::move(draft));
}

void ClassReader::ReadCosmos() {
  TableDraft draft = Draft();
  const int64_t head_dim = HeadDim(draft);
  const int64_t space = 2 * (head_dim / 6);
  RopeSpec spec = Spec(head_dim, {head_dim - 2 * space, space, space}, draft);
  spec.axes->ntk_factors = draft.Take("rope.axes.ntk_factors",
                                      root_.Numbers("rope_scale", reading_.bad)
                                          .value_or(Default(std::vector<double>{2, 1, 1}, "rope_scale")));
  reading_.Note("with a frame rate, time positions are the frame times base_fps / fps");
  Finish(spec, std::move(draft));
}

void ClassReader::ReadLtx() {
  TableDraft draft = Draft();
  const int64_t head_dim = HeadDim(draft);
  const Found<int64_t> heads = IntegerOr("num_attention_heads", row_.heads);
  if (heads.value < 1 || heads.value > limits::kMaxWidth / head_dim) {
    reading_.bad.Add(heads.path, heads.value, "1 to as many heads as a width of 65536 holds");
    return;
  }
  const int64_t width = head_dim * heads.value;
  RopeSpec spec = Spec(width, {}, draft);
  draft.Rule("rope.rotary_dim", absl::StrCat(width), "attention_head_dim * num_attention_heads");
  spec.axes = RopeAxes{.map = AxisMap::kRoundRobin, .sections = {width / 6, width / 6, width / 6},
                       .bands = FrequencyBands::kRising, .identity_pairs = width % 6 / 2};
  reading_.Note("positions are fractions of the largest video, 2c - 1 (coordinates fraction of a grid)");
  Finish(spec, std::move(draft));
}

// Sines and cosines of a grid of patches: SD 3, PixArt, DiT.
void ClassReader::ReadPatchGrid() {
  TableDraft draft("main", Pairing::kNone);
  const Found<int64_t> head_dim = IntegerOr("attention_head_dim", row_.head_dim);
  const Found<int64_t> heads = IntegerOr("num_attention_heads", row_.heads);
  const Found<int64_t> patch = IntegerOr("patch_size", 2);
  const Found<int64_t> sample = IntegerOr("sample_size", row_.sample_size);
  const Found<int64_t> largest = IntegerOr("pos_embed_max_size", row_.pos_embed_max_size);
  const auto in_range = [](int64_t value) { return value >= 1 && value <= limits::kMaxWidth; };
  for (const auto* found : {&head_dim, &heads, &patch, &sample}) {
    if (!in_range(found->value)) reading_.bad.Add(found->path, found->value, "1 to 65536");
  }
  if (!reading_.bad.empty()) return;
  const int64_t base_size = std::max<int64_t>(sample.value / patch.value, 1);
  const int64_t side = largest.value > 0 ? largest.value : base_size;
  GridSinusoidalSpec spec;
  spec.d_model = draft.Take("grid_sinusoidal.d_model",
                            Found<int64_t>{head_dim.value * heads.value, heads.path,
                                           "num_attention_heads * attention_head_dim",
                                           head_dim.defaulted && heads.defaulted});
  spec.grid = Grid{.sizes = {side, side}, .coordinates = GridCoordinates::kScaled,
                   .references = {base_size, base_size}};
  draft.Take("grid_sinusoidal.grid.sizes",
             Found<std::vector<int64_t>>{spec.grid.sizes, largest.value > 0 ? largest.path : sample.path,
                                         largest.value > 0 ? largest.source : "sample_size / patch_size",
                                         largest.value > 0 ? largest.defaulted : sample.defaulted});
  const bool pixart = row_.pos_embed_max_size == 0 && absl::StartsWith(row_.name, "PixArt");
  const double usual = pixart ? static_cast<double>(std::max<int64_t>(sample.value / 64, 1)) : 1.0;
  spec.grid.interpolation_scale = draft.Take(
      "grid_sinusoidal.grid.interpolation_scale",
      root_.Number("interpolation_scale", reading_.bad).value_or(Default(usual, "interpolation_scale")));
  spec.axis_order = {1, 0};
  draft.Rule("grid_sinusoidal.axis_order", "1,0", "diffusers' grids put the column first");
  if (largest.value > 0) reading_.Note("pictures use a window of the table's rows around its middle");
  std::move(draft).Finish(spec, reading_);
}

void ClassReader::ReadTimestep() {
  TableDraft draft("timestep", Pairing::kNone, "timesteps");
  SinusoidalSpec spec;
  const auto channels = root_.Integers("block_out_channels", reading_.bad);
  if (channels && channels->value.empty()) reading_.bad.AddText(channels->path, "is empty; allowed: widths");
  if (!reading_.bad.empty()) return;
  const auto widths = channels.value_or(Default(std::vector<int64_t>{320}, "block_out_channels"));
  spec.d_model = draft.Take("sinusoidal.d_model", Found<int64_t>{widths.value.front(), widths.path,
                                                                 widths.source, widths.defaulted});
  const auto flip = root_.Flag("flip_sin_to_cos", reading_.bad).value_or(Default(true, "flip_sin_to_cos"));
  spec.order = flip.value ? SinusoidalOrder::kCosSin : SinusoidalOrder::kSinCos;
  draft.Take("sinusoidal.order", flip);
  spec.frequency_shift =
      draft.Take("sinusoidal.frequency_shift",
                 root_.Number("freq_shift", reading_.bad).value_or(Default(0.0, "freq_shift")));
  constexpr int64_t kTrainSteps = 1000;
  spec.max_len = draft.Take("sinusoidal.max_len", Default(kTrainSteps, "num_train_timesteps"));
  std::move(draft).Finish(spec, reading_);
}

const std::vector<DiffusersClass>& Classes() {
  using enum Pairing;
  static const auto* const kClasses = new std::vector<DiffusersClass>{
      {.name = "AllegroTransformer3DModel",
       .read = &ClassReader::ReadThirds,
       .pairing = kHalfSplit,
       .head_dim = 96,
       .note = "the pairs are half-split inside each axis' third of the head"},
      {.name = "AuraFlowTransformer2DModel", .note = "the positions are learned: pos_embed.pos_embed"},
      {.name = "ChromaTransformer2DModel", .read = &ClassReader::ReadAxes, .axes = {16, 56, 56}},
      {.name = "CogVideoXTransformer3DModel", .read = &ClassReader::ReadCogVideo, .head_dim = 64},
      {.name = "CosmosTransformer3DModel",
       .read = &ClassReader::ReadCosmos,
       .pairing = kHalfSplit,
       .head_dim = 128},
      {.name = "DiTTransformer2DModel",
       .read = &ClassReader::ReadPatchGrid,
       .head_dim = 72,
       .heads = 16,
       .sample_size = 32},
      {.name = "FluxTransformer2DModel", .read = &ClassReader::ReadAxes, .axes = {16, 56, 56}},
      {.name = "HiDreamImageTransformer2DModel", .read = &ClassReader::ReadAxes, .axes = {32, 32}},
      {.name = "HunyuanVideoTransformer3DModel",
       .read = &ClassReader::ReadAxes,
       .axes = {16, 56, 56},
       .base = 256},
      {.name = "LTXVideoTransformer3DModel", .read = &ClassReader::ReadLtx, .head_dim = 64, .heads = 32},
      {.name = "Lumina2Transformer2DModel", .read = &ClassReader::ReadAxes, .axes = {32, 32, 32}},
      {.name = "OmniGenTransformer2DModel", .read = &ClassReader::ReadAxes, .pairing = kHalfSplit},
      {.name = "PixArtTransformer2DModel",
       .read = &ClassReader::ReadPatchGrid,
       .head_dim = 72,
       .heads = 16,
       .sample_size = 128},
      {.name = "QwenImageTransformer2DModel",
       .read = &ClassReader::ReadAxes,
       .axes = {16, 56, 56},
       .note =
           "with scale_rope rows and columns are counted from the middle of the picture, from -floor(n/2)"},
      {.name = "SD3Transformer2DModel",
       .read = &ClassReader::ReadPatchGrid,
       .head_dim = 64,
       .heads = 18,
       .sample_size = 128,
       .pos_embed_max_size = 96},
      {.name = "UNet2DConditionModel", .read = &ClassReader::ReadTimestep},
      {.name = "UNet2DModel", .read = &ClassReader::ReadTimestep},
      {.name = "UNet3DConditionModel", .read = &ClassReader::ReadTimestep},
      {.name = "UNetMotionModel", .read = &ClassReader::ReadTimestep},
      {.name = "WanTransformer3DModel", .read = &ClassReader::ReadThirds, .head_dim = 128},
  };
  return *kClasses;
}

const DiffusersClass* FindClass(absl::string_view name) {
  for (const DiffusersClass& row : Classes()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

bool IsDiffusersConfig(const ConfigObject& root) {
  return root.Find(kClassName) != nullptr && root.Find("model_type") == nullptr;
}

bool ReadDiffusersTables(const ConfigObject& root, Reading& reading) {
  const auto name = root.Text(kClassName, reading.bad);
  if (!name) return false;
  if (const DiffusersClass* row = FindClass(name->value)) {
    if (row->read != nullptr) (ClassReader(root, *row, reading).*row->read)();
    if (!row->note.empty()) reading.Note(row->note);
    return true;
  }
  const bool has_axes = std::any_of(std::begin(kAxesKeys), std::end(kAxesKeys),
                                    [&](auto key) { return root.Find(key) != nullptr; });
  if (!has_axes) {
    reading.unserved.AddText(
        std::string(kClassName),
        absl::StrCat("is ", Quote(name->value),
                     ", which is not in the list of classes, and "
                     "no key gives the widths of its axes; allowed: a class of the list"));
    return false;
  }
  reading.Note(absl::StrCat(Quote(name->value),
                            " is not in the list of diffusers' classes: interleaved pairs, "
                            "frequencies of its own on each axis and base 10000 are assumed"));
  const DiffusersClass unknown = {.name = "an unknown class", .read = &ClassReader::ReadAxes};
  ClassReader(root, unknown, reading).ReadAxes();
  return false;
}

}  // namespace posenc

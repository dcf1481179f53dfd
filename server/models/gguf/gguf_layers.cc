#include "server/models/gguf/gguf_layers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

constexpr int64_t kMaxLayers = 4096;
constexpr absl::string_view kPattern = "attention.sliding_window_pattern";

// Marks of a list with one for each layer; empty where the key is no list.
std::vector<bool> Marks(const GgufKeys& keys, absl::string_view name) {
  const Json* list = keys.metadata().Find(keys.Key(name));
  std::vector<bool> marks;
  if (list == nullptr || !list->is_array()) return marks;
  for (const Json& mark : *list) {
    if (!mark.is_number() && !mark.is_boolean()) return {};
    marks.push_back(mark.is_boolean() ? mark.get<bool>() : mark.get<double>() != 0);
  }
  return marks;
}

// A whole number that is a number of layers; 0 otherwise.
int64_t Count(const GgufKeys& keys, absl::string_view name) {
  const Json* value = keys.metadata().Find(keys.Key(name));
  if (value == nullptr || !value->is_number()) return 0;
  const double count = value->get<double>();
  return count >= 1 && count <= static_cast<double>(kMaxLayers) ? static_cast<int64_t>(count) : 0;
}

// The layers of the model itself; those behind them predict further tokens.
int64_t CountLayers(const GgufKeys& keys) {
  const int64_t all = Count(keys, "block_count");
  const int64_t further = Count(keys, "nextn_predict_layers");
  if (further == 0) return all;
  const int64_t own = std::max<int64_t>(all - further, 0);
  keys.reading().Note(absl::StrCat(keys.Key("nextn_predict_layers"), " is ", further, ": layers ", own, " to ",
                                   own + further - 1, " predict further tokens; they are not among the layers of "
                                   "this answer"));
  return own;
}

bool HasWindow(const GgufKeys& keys, const GgufArchitecture& row, int64_t count) {
  const bool built_in = row.window.layers == -1 || (row.window.layers > 0 && row.window.layers == count);
  const Json* window = keys.metadata().Find(keys.Key("attention.sliding_window"));
  const bool written = window != nullptr && window->is_number() && window->get<double>() > 0;
  return built_in || written || keys.Has("rope.freq_base_swa");
}

// llama.cpp's set_swa_pattern: the last, or the first, of each period is full.
bool Slides(int64_t layer, int64_t period, bool full_first) {
  if (period == 0) return true;
  return full_first ? layer % period != 0 : layer % period < period - 1;
}

void SetWindows(const GgufKeys& keys, const GgufArchitecture& row, GgufLayers& plan) {
  const std::vector<bool> marks = Marks(keys, kPattern);
  const Json* written = keys.metadata().Find(keys.Key(kPattern));
  const bool number = written != nullptr && written->is_number();
  const int64_t period = number ? Count(keys, kPattern) : row.window.period;
  plan.pattern_known = !marks.empty() || number || row.window.period > 0;
  if (!plan.pattern_known) {
    keys.reading().Note(absl::StrCat(keys.Key(kPattern), " is missing: the file does not say which layers have a "
                                     "sliding window"));
    return;
  }
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    plan.layers[i].sliding = marks.empty() ? Slides(static_cast<int64_t>(i), period, row.window.full_first)
                                           : marks[i % marks.size()];
  }
}

// Layers without attention: their number of heads, or of key heads, is 0, or they are not the last of their period.
void StopWithoutAttention(const GgufKeys& keys, const GgufArchitecture& row, GgufLayers& plan) {
  constexpr absl::string_view kKeyHeads = "attention.head_count_kv";
  for (const absl::string_view key : {absl::string_view("attention.head_count"), kKeyHeads}) {
    const std::vector<bool> heads = Marks(keys, key);
    if (std::find(heads.begin(), heads.end(), false) == heads.end()) continue;
    for (size_t i = 0; i < plan.layers.size(); ++i) {
      plan.layers[i].rotates = plan.layers[i].rotates && heads[i % heads.size()];
    }
    plan.still_source = absl::StrCat(keys.Key(key), " 0");
  }
  if (row.hybrid && Marks(keys, kKeyHeads).empty()) {
    keys.reading().Note(absl::StrCat(keys.Key(kKeyHeads), " is no list: the file does not say which layers have "
                                     "attention; the others do not rotate"));
  }
  if (row.attention_period == 0) return;
  const int64_t written = Count(keys, "full_attention_interval");
  const int64_t period = written > 0 ? written : row.attention_period;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    plan.layers[i].rotates = (static_cast<int64_t>(i) + 1) % period == 0;
  }
  plan.still_source = written > 0 ? keys.Key("full_attention_interval") : "built into llama.cpp";
}

void StopByRule(const GgufKeys& keys, const GgufArchitecture& row, GgufLayers& plan) {
  constexpr int64_t kPeriod = 4;
  const std::vector<bool> marks =
      row.still == GgufStill::kPattern ? Marks(keys, "attention.rope_pattern") : std::vector<bool>();
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    bool& rotates = plan.layers[i].rotates;
    switch (row.still) {
      case GgufStill::kNone: break;
      case GgufStill::kEveryFourth: rotates = rotates && (i + 1) % kPeriod != 0; break;
      case GgufStill::kFull: rotates = rotates && (!plan.window || plan.layers[i].sliding); break;
      case GgufStill::kPattern: rotates = rotates && (marks.empty() || marks[i % marks.size()]); break;
    }
  }
  if (row.still == GgufStill::kPattern) plan.still_source = keys.Key("attention.rope_pattern");
  if (row.still == GgufStill::kFull) plan.still_source = "layers without a sliding window; built into llama.cpp";
  if (row.still == GgufStill::kEveryFourth) plan.still_source = "every fourth layer; built into llama.cpp";
}

}  // namespace

std::vector<int64_t> GgufLayers::Rotating() const {
  std::vector<int64_t> indices;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].rotates) indices.push_back(static_cast<int64_t>(i));
  }
  return indices;
}

std::vector<int64_t> GgufLayers::Rotating(bool sliding) const {
  std::vector<int64_t> indices;
  for (const int64_t i : Rotating()) {
    if (pattern_known && layers[i].sliding == sliding) indices.push_back(i);
  }
  return indices;
}

std::vector<int64_t> GgufLayers::Compressed(bool compressed) const {
  std::vector<int64_t> indices;
  for (const int64_t i : Rotating()) {
    if (layers[i].compressed == compressed) indices.push_back(i);
  }
  return indices;
}

std::vector<int64_t> GgufLayers::Still() const {
  std::vector<int64_t> indices;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].rotates) indices.push_back(static_cast<int64_t>(i));
  }
  return indices;
}

GgufLayers PlanGguf(const GgufKeys& keys, const GgufArchitecture& row) {
  GgufLayers plan;
  const int64_t count = CountLayers(keys);
  plan.layers.resize(static_cast<size_t>(count));
  plan.window = HasWindow(keys, row, count);
  if (plan.window) SetWindows(keys, row, plan);
  const std::vector<bool> ratios = row.compressed ? Marks(keys, "attention.compress_ratios") : std::vector<bool>();
  for (size_t i = 0; i < plan.layers.size() && !ratios.empty(); ++i) {
    plan.layers[i].compressed = ratios[i % ratios.size()];
  }
  StopWithoutAttention(keys, row, plan);
  // Llama 4 says with a window of 0 that all of its layers rotate.
  const Json* window = keys.metadata().Find(keys.Key("attention.sliding_window"));
  const bool all_rotate = row.llama4_temperature && window != nullptr && *window == Json(0);
  if (!all_rotate) StopByRule(keys, row, plan);
  return plan;
}

}  // namespace posenc

#include "server/models/readers/absolute_config.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

constexpr absl::string_view kPadding = "pad_token_id";

// Rows before the first position's: a constant of the class, or one more than the padding token.
Found<int64_t> PositionOffset(const ModelScope& scope, Reading& reading) {
  const ModelFamily& family = *scope.family;
  if (!family.padding_offset) return scope.Default(family.position_offset, "position_offset");
  Found<int64_t> padding = scope.object.Integer(kPadding, reading.bad).value_or(
      scope.Default(int64_t{1}, kPadding));
  padding.value += 1;
  padding.source = absl::StrCat(kPadding, " + 1 (", padding.source, ")");
  return padding;
}

// The decoder's learned table of a model whose encoder has sines and cosines (Whisper).
void ReadDecoderTable(const ModelScope& scope, Reading& reading) {
  const auto rows = scope.object.Integer("max_target_positions", reading.bad);
  AddLearnedTable(TableDraft("decoder", Pairing::kNone, "the decoder"), scope.family->tensor,
                  scope.Default(int64_t{0}, "position_offset"), rows ? rows->value : 0, reading);
}

void ReadPaddingRow(const ModelScope& scope, SinusoidalSpec& spec, TableDraft& draft, Reading& reading) {
  const Found<int64_t> padding =
      scope.object.Integer(kPadding, reading.bad).value_or(scope.Default(int64_t{1}, kPadding));
  spec.zero_row = draft.Take("sinusoidal.zero_row", padding);
  reading.Note(absl::StrCat("row ", padding.value, " is the padding token's; the first token reads row ",
                            padding.value + 1));
}

}  // namespace

void AddLearnedTable(TableDraft draft, absl::string_view name, const Found<int64_t>& position_offset,
                     int64_t rows, Reading& reading) {
  LearnedSpec spec;
  spec.name = std::string(name);
  draft.Rule("learned.name", spec.name, "the tensor's usual name in a checkpoint");
  spec.position_offset = draft.Take("learned.position_offset", position_offset);
  std::string note =
      absl::StrCat("the numbers of ", name, " are in the checkpoint: give the server that tensor");
  if (rows > 0) absl::StrAppend(&note, ", it has a row for each of ", rows, " positions");
  reading.Note(std::move(note));
  std::move(draft).Finish(spec, reading);
}

void ReadLearnedTable(const ModelScope& scope, Reading& reading) {
  const auto rows = scope.IntegerOr(ConfigKey::kMaxLen, scope.family->max_len, reading.bad);
  AddLearnedTable(TableDraft("main", Pairing::kNone), scope.family->tensor, PositionOffset(scope, reading),
                  rows ? rows->value : 0, reading);
}

void ReadSinusoidalTable(const ModelScope& scope, Reading& reading) {
  const ModelFamily& family = *scope.family;
  const SinusoidalRule& rule = family.sinusoidal;
  TableDraft draft(rule.encoder ? "encoder" : "main", Pairing::kNone, rule.encoder ? "the encoder" : "");
  SinusoidalSpec spec;
  spec.order = rule.order;
  spec.frequency_shift = rule.frequency_shift;
  spec.descending = rule.descending;
  spec.d_model = draft.Take("sinusoidal.d_model",
                            scope.Required(ConfigKey::kHiddenSize, family.hidden_size, reading.bad));
  Found<int64_t> rows = scope.Required(rule.encoder ? ConfigKey::kEncoderMaxLen : ConfigKey::kMaxLen,
                                       family.max_len, reading.bad);
  if (rule.extra_rows != 0) {
    rows.value = std::min(rows.value, limits::kMaxPosition - rule.extra_rows) + rule.extra_rows;
    absl::StrAppend(&rows.source, " + ", rule.extra_rows);
  }
  spec.max_len = draft.Take("sinusoidal.max_len", rows);
  if (rule.descending) {
    spec.first_position = spec.max_len - 1;
    reading.Note("the rows are distances, the largest first; the model makes them for the keys it has");
  }
  if (rule.padding_row) ReadPaddingRow(scope, spec, draft, reading);
  std::move(draft).Finish(spec, reading);
  if (!family.tensor.empty() && reading.bad.empty()) ReadDecoderTable(scope, reading);
}

}  // namespace posenc

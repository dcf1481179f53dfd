#include "proto/selection_codec.h"

#include "server/core/violations.h"

namespace posenc {
namespace {

Range DecodeRange(const v1::Range& message) {
  Range range{.begin = message.begin(), .end = std::nullopt};
  if (message.has_end()) range.end = message.end();
  return range;
}

void EncodeRange(const Range& range, v1::Range* message) {
  message->set_begin(range.begin);
  if (range.end) message->set_end(*range.end);
}

}  // namespace

absl::StatusOr<Selection> DecodeSelection(const v1::Selection& message) {
  Selection selection;
  if (message.has_rows()) selection.rows = DecodeRange(message.rows());
  Violations bad;
  const auto read = [&](bool given, absl::string_view field, const auto& values, auto& list) {
    if (given && values.empty()) bad.AddText(field, "is empty; allowed: at least one position");
    list.assign(values.begin(), values.end());
  };
  read(message.has_positions(), "selection.positions", message.positions().values(), selection.positions);
  read(message.has_real_positions(), "selection.real_positions", message.real_positions().values(),
       selection.real_positions);
  read(message.has_axis_positions(), "selection.axis_positions", message.axis_positions().values(),
       selection.axis_positions);
  if (!bad.empty()) return bad.ToStatus();
  if (message.has_columns()) selection.columns = DecodeRange(message.columns());
  if (message.has_heads()) selection.heads = DecodeRange(message.heads());
  if (message.has_keys()) selection.keys = DecodeRange(message.keys());
  return selection;
}

v1::Selection EncodeSelection(const Selection& selection) {
  v1::Selection message;
  if (selection.rows) EncodeRange(*selection.rows, message.mutable_rows());
  const auto write = [](const auto& list, auto&& values) {
    if (!list.empty()) values()->mutable_values()->Add(list.begin(), list.end());
  };
  write(selection.positions, [&] { return message.mutable_positions(); });
  write(selection.real_positions, [&] { return message.mutable_real_positions(); });
  write(selection.axis_positions, [&] { return message.mutable_axis_positions(); });
  if (selection.columns) EncodeRange(*selection.columns, message.mutable_columns());
  if (selection.heads) EncodeRange(*selection.heads, message.mutable_heads());
  if (selection.keys) EncodeRange(*selection.keys, message.mutable_keys());
  return message;
}

}  // namespace posenc

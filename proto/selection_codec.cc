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
  if (message.has_positions()) {
    const auto& values = message.positions().values();
    if (values.empty()) {
      Violations bad;
      bad.AddText("selection.positions", "is empty; allowed: at least one position");
      return bad.ToStatus();
    }
    selection.positions.assign(values.begin(), values.end());
  }
  if (message.has_columns()) selection.columns = DecodeRange(message.columns());
  if (message.has_heads()) selection.heads = DecodeRange(message.heads());
  if (message.has_keys()) selection.keys = DecodeRange(message.keys());
  return selection;
}

v1::Selection EncodeSelection(const Selection& selection) {
  v1::Selection message;
  if (selection.rows) EncodeRange(*selection.rows, message.mutable_rows());
  if (!selection.positions.empty()) {
    message.mutable_positions()->mutable_values()->Add(selection.positions.begin(),
                                                       selection.positions.end());
  }
  if (selection.columns) EncodeRange(*selection.columns, message.mutable_columns());
  if (selection.heads) EncodeRange(*selection.heads, message.mutable_heads());
  if (selection.keys) EncodeRange(*selection.keys, message.mutable_keys());
  return message;
}

}  // namespace posenc

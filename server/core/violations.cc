#include "server/core/violations.h"

#include <optional>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_split.h"
#include "server/core/limits.h"

namespace posenc {
namespace {

// Field and description never hold these control characters: input is escaped before it is quoted.
constexpr char kFieldEnd = '\x1f';
constexpr char kItemEnd = '\x1e';
constexpr absl::string_view kPayloadUrl = "posenc/field-violations";

std::string Join(const std::vector<FieldViolation>& items) {
  std::string text;
  for (const FieldViolation& item : items) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", item.field, " ", item.description);
  }
  return text;
}

}  // namespace

void Violations::AddText(absl::string_view field, std::string description) {
  if (full()) return LeaveOut();
  for (const FieldViolation& item : items_) {
    if (item.field == field && item.description == description) return;
  }
  items_.push_back({std::string(field), std::move(description)});
}

bool Violations::full() const { return items_.size() >= limits::kMaxReportedViolations; }

absl::Status Violations::ToStatus(absl::StatusCode code) const {
  if (items_.empty()) return absl::OkStatus();
  std::string message = Join(items_);
  if (left_out_ > 0) absl::StrAppend(&message, "; and ", left_out_, " more");
  return StatusWithViolations(code, message, items_);
}

std::vector<FieldViolation> FieldViolationsOf(const absl::Status& status) {
  std::vector<FieldViolation> violations;
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (!payload) return violations;
  const std::string text(*payload);
  for (absl::string_view item : absl::StrSplit(text, kItemEnd, absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(item, absl::MaxSplits(kFieldEnd, 1));
    violations.push_back({parts.first, parts.second});
  }
  return violations;
}

absl::Status StatusWithViolations(absl::StatusCode code, absl::string_view message,
                                  const std::vector<FieldViolation>& violations) {
  absl::Status status(code, message);
  std::string payload;
  for (const FieldViolation& item : violations) {
    absl::StrAppend(&payload, item.field, std::string(1, kFieldEnd), item.description,
                    std::string(1, kItemEnd));
  }
  if (!payload.empty()) status.SetPayload(kPayloadUrl, absl::Cord(payload));
  return status;
}

absl::Status PrefixFields(const absl::Status& status, absl::string_view prefix) {
  std::vector<FieldViolation> violations = FieldViolationsOf(status);
  if (violations.empty()) return status;
  for (FieldViolation& item : violations) {
    item.field = absl::StrCat(prefix, ".", item.field);
  }
  return StatusWithViolations(status.code(), Join(violations), violations);
}

}  // namespace posenc

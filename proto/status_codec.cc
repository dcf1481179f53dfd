#include "proto/status_codec.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "server/core/limits.h"
#include "server/core/violations.h"

namespace posenc {
namespace {

// Cuts between two characters: a string field of a message must be valid UTF-8.
std::string Cut(const std::string& text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), "…");
}

// Serialises with as many violations as fit.
std::string Encode(const absl::Status& status, const std::vector<FieldViolation>& violations,
                   size_t count) {
  google::rpc::Status message;
  message.set_code(static_cast<int>(status.code()));
  google::rpc::ErrorInfo info;
  info.set_reason(absl::StatusCodeToString(status.code()));
  info.set_domain("posenc");
  message.add_details()->PackFrom(info);
  if (count > 0) {
    google::rpc::BadRequest bad;
    for (size_t i = 0; i < count; ++i) {
      google::rpc::BadRequest::FieldViolation& to = *bad.add_field_violations();
      to.set_field(Cut(violations[i].field, 128));
      to.set_description(Cut(violations[i].description, 512));
    }
    message.add_details()->PackFrom(bad);
  }
  return message.SerializeAsString();
}

}  // namespace

std::string EncodeStatusDetails(const absl::Status& status) {
  const std::vector<FieldViolation> violations = FieldViolationsOf(status);
  size_t count = std::min(violations.size(), limits::kMaxReportedViolations);
  std::string details = Encode(status, violations, count);
  while (details.size() > limits::kMaxErrorDetailBytes && count > 0) {
    details = Encode(status, violations, --count);
  }
  return details;
}

absl::Status DecodeStatus(int code, absl::string_view message, absl::string_view details) {
  std::vector<FieldViolation> violations;
  google::rpc::Status decoded;
  if (decoded.ParseFromArray(details.data(), static_cast<int>(details.size()))) {
    for (const google::protobuf::Any& any : decoded.details()) {
      google::rpc::BadRequest bad;
      if (!any.UnpackTo(&bad)) continue;
      for (const auto& item : bad.field_violations()) {
        violations.push_back({item.field(), item.description()});
      }
    }
  }
  return StatusWithViolations(static_cast<absl::StatusCode>(code), message, violations);
}

}  // namespace posenc

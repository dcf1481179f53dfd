#include "server/rpc/calls/status_mapping.h"

#include <vector>

#include "absl/strings/str_format.h"
#include "proto/status_codec.h"
#include "server/core/violations.h"

namespace posenc {
namespace {

std::string CutMessage(std::string text) {
  constexpr absl::string_view kEllipsis = "...";
  if (text.size() <= kMaxStatusMessageBytes) return text;
  text.resize(kMaxStatusMessageBytes - kEllipsis.size());
  text.append(kEllipsis.data(), kEllipsis.size());
  return text;
}

// The same status in bytes that any client can decode: proto3 strings must be UTF-8.
absl::Status Escaped(const absl::Status& status) {
  std::vector<FieldViolation> violations = FieldViolationsOf(status);
  for (FieldViolation& item : violations) {
    item.field = EscapeNonPrintable(item.field);
    item.description = EscapeNonPrintable(item.description);
  }
  return StatusWithViolations(status.code(), CutMessage(EscapeNonPrintable(status.message())),
                              violations);
}

}  // namespace

std::string EscapeNonPrintable(absl::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      escaped.push_back(c);
    } else {
      absl::StrAppendFormat(&escaped, "\\x%02x", byte);
    }
  }
  return escaped;
}

grpc::Status ToGrpcStatus(const absl::Status& status) noexcept {
  if (status.ok()) return grpc::Status();
  const auto code = static_cast<grpc::StatusCode>(status.code());
  try {
    const absl::Status escaped = Escaped(status);
    return grpc::Status(code, std::string(escaped.message()), EncodeStatusDetails(escaped));
  } catch (...) {
    // No memory for words. A call that is not finished would hang its client, so the code goes alone.
    return grpc::Status(code, std::string());
  }
}

}  // namespace posenc

#include "server/core/specs/learned_spec.h"

#include "absl/strings/ascii.h"
#include "server/core/specs/field_checks.h"

namespace posenc {

absl::Status NormalizeFamily(LearnedSpec& spec) {
  Violations bad;
  const bool digest = spec.content_sha256.empty() || spec.content_sha256.size() == 64;
  if (!digest) bad.AddText("learned.content_sha256", "is no SHA-256; allowed: 64 hex digits");
  spec.content_sha256 = absl::AsciiStrToLower(spec.content_sha256);
  return bad.ToStatus();
}

}  // namespace posenc

// Collects what is wrong with a request, field by field, and carries it inside an absl::Status.
//
// Every refusal of input names the field (a path such as "rope.head_dim"), the value given and what is
// allowed. The RPC layer turns the violations into google.rpc.BadRequest, the client back into these.

#ifndef POSENC_SERVER_CORE_VIOLATIONS_H_
#define POSENC_SERVER_CORE_VIOLATIONS_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/core/shortest_decimal.h"

namespace posenc {

struct FieldViolation {
  std::string field;        // path from the message that was checked, e.g. "rope.head_dim"
  std::string description;  // "is 7; allowed: an even number from 2 to 65536"
};

// Gathers violations; a value, not thread-safe.
class Violations {
 public:
  // Adds "is `value`; allowed: `allowed`" for `field`; a double in all its digits.
  template <typename Value>
  void Add(absl::string_view field, const Value& value, absl::string_view allowed) {
    if (full()) return LeaveOut();
    if constexpr (std::is_floating_point_v<Value>) return Add(field, ShortestDecimal(value), allowed);
    AddText(field, absl::StrCat("is ", value, "; allowed: ", allowed));
  }

  // Adds a whole description, for what is not about one value. The same one again adds nothing.
  void AddText(absl::string_view field, std::string description);

  bool empty() const { return items_.empty(); }

  // Ok when nothing was added; otherwise a status of `code` whose message lists every violation (the
  // first kMaxReportedViolations of them) and whose payload FieldViolationsOf reads.
  absl::Status ToStatus(absl::StatusCode code = absl::StatusCode::kInvalidArgument) const;

 private:
  // A hostile list may violate a hundred thousand times: what is not reported costs no text.
  bool full() const;
  void LeaveOut() { ++left_out_; }

  std::vector<FieldViolation> items_;  // the first kMaxReportedViolations
  size_t left_out_ = 0;                 // how many more there were
};

// Returns the violations that a status carries; empty for a status without any.
std::vector<FieldViolation> FieldViolationsOf(const absl::Status& status);

// Returns a status of `code` with the message and the violations given, as ToStatus would carry them.
absl::Status StatusWithViolations(absl::StatusCode code, absl::string_view message,
                                  const std::vector<FieldViolation>& violations);

// Returns the same status with `prefix` and a dot before every violation's path.
absl::Status PrefixFields(const absl::Status& status, absl::string_view prefix);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_VIOLATIONS_H_

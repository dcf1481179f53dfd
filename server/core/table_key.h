// The identity of a table: SHA-256 over the canonical text of its normalised spec.
//
// Two spellings of one table have one key, two tables never share one. The canonical text is a list of
// lines "name=value" behind the line "posenc.table/1", in a fixed order, one line for every parameter that
// changes a number, a shape or a byte; doubles are written as C hex floats, lists with commas. It is the
// key's definition and is versioned by its first line (server/decisions has the reasons).

#ifndef POSENC_SERVER_CORE_TABLE_KEY_H_
#define POSENC_SERVER_CORE_TABLE_KEY_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/specs/spec.h"

namespace posenc {

// A 32-byte value with order and hash; cheap to copy.
struct TableKey {
  std::array<uint8_t, 32> digest{};

  // 64 lower-case hex digits, as on the wire, in metrics and in the CLI.
  std::string ToHex() const;
  // Errors: InvalidArgument unless `hex` is 64 hex digits.
  static absl::StatusOr<TableKey> FromHex(absl::string_view hex);

  friend auto operator<=>(const TableKey&, const TableKey&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const TableKey& key) {
    return H::combine(std::move(state), key.digest);
  }
};

// Returns the canonical text of a normalised spec.
std::string CanonicalText(const TableSpec& normalized);

// Returns the key of a normalised spec.
TableKey KeyOf(const TableSpec& normalized);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_TABLE_KEY_H_

// What makes two requests the same one.
//
// On two levels. As written: specs and selections are hashed and compared field by field, which takes some
// tens of nanoseconds and tells apart what means the same. As meant: the table's key and the plan of the
// selection, which takes microseconds and knows every spelling.
//
// Threads: pure functions and constant data.

#ifndef POSENC_CLIENT_NEAR_CACHE_NEAR_CACHE_KEYS_H_
#define POSENC_CLIENT_NEAR_CACHE_NEAR_CACHE_KEYS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "server/core/selection.h"
#include "server/core/specs/spec.h"
#include "server/core/table_key.h"
#include "server/core/table_shape.h"

namespace posenc {

// Fields are compared by their bits: 0.0 and -0.0 are written differently, a NaN is itself.
size_t HashAsWritten(const TableSpec& spec);
bool SameAsWritten(const TableSpec& a, const TableSpec& b);
size_t HashAsWritten(const Selection& selection);
bool SameAsWritten(const Selection& a, const Selection& b);

// A table that a spec means.
struct TableIdentity {
  TableKey key;  // of the spec; the service's own key for it may differ, as a stored tensor's does
  std::optional<TableShape> shape;  // absent for stored tensors, whose shape the service alone knows
};

// Returns the key of the table of a spec, or nothing where IdentifyTable returns nothing. Some microseconds.
std::optional<TableKey> IdentifyKey(const TableSpec& spec);

// Returns the table of a spec, or nothing when the spec is wrong or its numbers are no fact: a stored tensor
// that is only named is whatever the server has under that name today. Makes a generator: up to milliseconds.
std::shared_ptr<const TableIdentity> IdentifyTable(const TableSpec& spec);

// A part of a table.
struct SliceIdentity {
  std::shared_ptr<const TableIdentity> table;
  std::optional<SlicePlan> plan;  // with table->shape
  std::string text;               // equal if and only if the answers must be
  bool whole = false;             // the whole table, known to be it
};

// Returns nothing when the selection does not fit the table.
std::optional<SliceIdentity> IdentifySlice(std::shared_ptr<const TableIdentity> table,
                                           const Selection& selection);

}  // namespace posenc

#endif  // POSENC_CLIENT_NEAR_CACHE_NEAR_CACHE_KEYS_H_

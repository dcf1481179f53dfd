// Parts of a whole table that is in this process already.
//
// Threads: pure functions. Ownership: a view keeps the whole table's memory.

#ifndef POSENC_CLIENT_API_TABLE_VIEW_H_
#define POSENC_CLIENT_API_TABLE_VIEW_H_

#include <optional>

#include "posenc/table.h"
#include "server/core/selection.h"
#include "server/core/table_shape.h"

namespace posenc {

// Returns the part of `whole` that `plan` selects, byte for byte what a service answers: without a copy
// where the rows are whole, next to each other and begin on a 64-byte boundary, else copied. Nothing when
// the numbers are not all in the table (positions beyond its rows), for a part without rows, and when
// `whole` is not a table of that shape.
std::optional<Table> PartOfWhole(const Table& whole, const TableShape& shape, const SlicePlan& plan);

}  // namespace posenc

#endif  // POSENC_CLIENT_API_TABLE_VIEW_H_

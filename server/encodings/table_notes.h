// What the reader of a table's description should know and its numbers do not say by themselves: what the
// generator says (TableFacts::notes), rows made for a shorter sequence than they stand in (core/length_remark.h),
// and where values leave the element type and are infinite. Pure function, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_TABLE_NOTES_H_
#define POSENC_SERVER_ENCODINGS_TABLE_NOTES_H_

#include <string>
#include <vector>

#include "server/core/specs/spec.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// Returns the notes, one line each. `table` is the generator of `normalized`. Cost: microseconds.
std::vector<std::string> TableNotes(const TableSpec& normalized, const TableGenerator& table);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_TABLE_NOTES_H_

// Puts an answer together in a buffer: rows at given positions, cut columns, many short runs.
//
// Runs are copied out of blocks, one block at a time, so that a slice of a few columns of a long table
// holds one block and never the table. Positions are copied from blocks that happen to be resident and
// generated straight into the buffer otherwise: a block is never built for the sake of one row.
//
// Memory: one buffer, charged to the budget: every tensor, 64-byte aligned, one after the other, and at
// its end a small scratch where columns must be cut from generated rows. Whoever holds it waits for no more
// memory: a block that cannot be had at once is not built, its rows are generated into the buffer.
// Threads: copying and generating run on workers. A gather of positions is done in batches, each a piece of
// work of its own: it takes turns with other work, and looks for cancellation at each turn; a copy of runs
// looks between blocks.

#ifndef POSENC_SERVER_RPC_SLICES_ROW_ASSEMBLY_H_
#define POSENC_SERVER_RPC_SLICES_ROW_ASSEMBLY_H_

#include <memory>

#include "server/core/selection.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/slices/slice_rows.h"
#include "server/tables/store/table_store.h"

namespace posenc {

// As FetchRows, for a plan that is not empty.
void AssembleRows(TableStore& store, TablePtr table, PlanPtr plan, std::shared_ptr<Call> call,
                  RowsCallback done);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SLICES_ROW_ASSEMBLY_H_

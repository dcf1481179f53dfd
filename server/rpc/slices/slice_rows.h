// Gets the rows of a plan, or of one chunk of it, as bytes ready to be framed.
//
// Whole rows of one run are sent from the blocks themselves, without a copy. Everything else (positions,
// cut columns, many short runs) is put together into a buffer on a worker, see row_assembly.h.
//
// Memory: the blocks that hold the run, or one buffer of the answer's size and one block at a time.
// Threads: any. The callback comes inline when the blocks are resident, else on a worker; it must not throw.

#ifndef POSENC_SERVER_RPC_SLICES_SLICE_ROWS_H_
#define POSENC_SERVER_RPC_SLICES_SLICE_ROWS_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/selection.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/calls/frame.h"
#include "server/tables/store/table_store.h"

namespace posenc {

struct RowData {
  std::vector<std::vector<SharedBytes>> tensors;  // for each tensor of the table, its bytes in order
  BlockPtr whole_block;  // set when the rows are exactly those of this block
};

// Shared by all who work for one answer: a plan may have a million positions.
using PlanPtr = std::shared_ptr<const SlicePlan>;

using RowsCallback = std::function<void(absl::StatusOr<RowData>)>;

// Fetches the rows of `plan`; the end of `call` ends the wait.
// Requires: plan->total_bytes fits into memory, i.e. was compared with a limit. `store` outlives the work.
// Errors: as TableStore::Fetch and Allocate; Call::EndStatus when the call ended.
void FetchRows(TableStore& store, TablePtr table, PlanPtr plan, std::shared_ptr<Call> call,
               RowsCallback done);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SLICES_SLICE_ROWS_H_

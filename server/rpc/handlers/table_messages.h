// Messages that several RPCs answer with. Pure functions.

#ifndef POSENC_SERVER_RPC_HANDLERS_TABLE_MESSAGES_H_
#define POSENC_SERVER_RPC_HANDLERS_TABLE_MESSAGES_H_

#include <cstdint>
#include <vector>

#include "posenc/v1/slice.pb.h"
#include "server/core/selection.h"
#include "server/core/table_shape.h"
#include "server/rpc/slices/slice_frame.h"
#include "server/rpc/slices/slice_rows.h"

namespace posenc {

// Returns the shape of `tensor` in the answer to `plan`. One row that has no dimension of its own
// (frequencies, slopes) gets one where the answer has none of it.
std::vector<int64_t> AnswerDims(const SlicePlan& plan, const TensorShape& tensor);

// Fills in what a tensor of the answer to `plan` is.
void EncodeTensorInfo(const SlicePlan& plan, const TensorShape& tensor, v1::TensorInfo* message);

// Joins the shapes of the answer to `plan` with its bytes.
std::vector<TensorPart> TensorPartsOf(const TableShape& shape, const SlicePlan& plan, RowData rows);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_TABLE_MESSAGES_H_

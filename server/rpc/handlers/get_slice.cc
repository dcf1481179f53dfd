#include "server/rpc/handlers/get_slice.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/limits.h"
#include "server/rpc/calls/exceptions.h"
#include "server/rpc/handlers/table_messages.h"
#include "server/rpc/requests/request_decoding.h"
#include "server/rpc/slices/slice_rows.h"

namespace posenc {
namespace {

// Protobuf counts a message's bytes in an int; whatever the operator sets, no answer goes beyond.
constexpr uint64_t kMaxMessageBytes = (uint64_t{1} << 31) - (uint64_t{1} << 20);

absl::Status CheckSize(const SlicePlan& plan, const TableShape& shape, size_t max_unary_bytes) {
  const uint64_t needed = plan.total_bytes(shape);
  const uint64_t allowed = std::min<uint64_t>(max_unary_bytes, kMaxMessageBytes);
  if (needed <= allowed) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the slice takes ", needed, " bytes, but GetSlice returns at most ", allowed,
                   "; use StreamSlice, which returns slices of any size"));
}

// The answer may be small and the work great: whole rows are generated, whatever columns are kept.
absl::Status CheckWork(const SlicePlan& plan, const TableShape& shape) {
  if (plan.positions.empty()) {
    const uint64_t work = SaturatedProduct(plan.row_count(), shape.row_bytes());
    if (plan.whole_rows || work <= limits::kMaxGatherBytes) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("the slice cuts columns out of ", work, " bytes of rows, but GetSlice goes through ",
                     limits::kMaxGatherBytes, " at most; use StreamSlice, which has no limit"));
  }
  const int64_t count = plan.row_count();
  const auto row_bytes = static_cast<uint64_t>(shape.row_bytes());
  if (SaturatedProduct(count, shape.row_bytes()) <= limits::kMaxGatherBytes) return absl::OkStatus();
  return FieldError(absl::StatusCode::kInvalidArgument, "selection.positions",
                    absl::StrCat("has ", count, " entries of ", row_bytes,
                                 " bytes a whole row; allowed: at most ",
                                 limits::kMaxGatherBytes / row_bytes,
                                 " of such rows in one GetSlice; use StreamSlice for more"));
}

Frame FrameAnswer(const Table& table, const SlicePlan& plan, RowData rows) {
  return FrameTensors(TableKeyField(table.key()), TensorPartsOf(table.shape(), plan, std::move(rows)));
}

void Answer(const ContextPtr& context, const TablePtr& table, const Selection& selection,
            const std::shared_ptr<UnaryCall>& call) {
  absl::StatusOr<SlicePlan> plan = ResolveSelection(selection, table->shape());
  if (!plan.ok()) return call->Respond(plan.status());
  absl::Status fits = CheckSize(*plan, table->shape(), context->max_unary_bytes);
  if (!fits.ok()) return call->Respond(std::move(fits));
  absl::Status bounded = CheckWork(*plan, table->shape());
  if (!bounded.ok()) return call->Respond(std::move(bounded));
  const auto shared = std::make_shared<const SlicePlan>(*std::move(plan));
  FetchRows(*context->store, table, shared, call, [table, shared, call](auto rows) {
    CatchExceptions(
        [&] {
          if (!rows.ok()) return call->Respond(rows.status());
          call->Respond(FrameAnswer(*table, *shared, *std::move(rows)));
        },
        [&](absl::Status failure) { call->Respond(std::move(failure)); });
  });
}

}  // namespace

void GetSlice(const ContextPtr& context, const SpecRequest<v1::GetSliceRequest>& request,
              const std::shared_ptr<UnaryCall>& call) {
  absl::StatusOr<Selection> selection = DecodeSelectionOf(request.spec.status(), request.fields.selection());
  if (!selection.ok()) return call->Respond(selection.status());
  OpenTable(*context->store, **request.spec, *call,
            [context, selection = *std::move(selection), call](absl::StatusOr<TablePtr> table) {
              CatchExceptions(
                  [&] {
                    if (!table.ok()) return call->Respond(table.status());
                    Answer(context, *table, selection, call);
                  },
                  [&](absl::Status failure) { call->Respond(std::move(failure)); });
            });
}

}  // namespace posenc

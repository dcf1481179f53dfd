#include "server/rpc/handlers/stream_slice.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/calls/exceptions.h"
#include "server/rpc/handlers/table_messages.h"
#include "server/rpc/requests/request_decoding.h"
#include "server/rpc/slices/chunk_cursor.h"
#include "server/rpc/slices/slice_stream.h"

namespace posenc {
namespace {

absl::Status CheckSkip(int64_t skip_rows, int64_t row_count) {
  if (skip_rows >= 0 && skip_rows <= row_count) return absl::OkStatus();
  return FieldError(absl::StatusCode::kOutOfRange, "skip_rows",
                    absl::StrCat("is ", skip_rows, "; allowed: 0 to ", row_count));
}

std::string SerializedHeader(const Table& table, const SlicePlan& plan) {
  v1::SliceHeader header;
  header.set_table_key(table.key().ToHex());
  for (const TensorShape& tensor : table.shape().tensors) {
    EncodeTensorInfo(plan, tensor, header.add_tensors());
  }
  header.set_row_count(plan.row_count());
  header.set_size_bytes(plan.total_bytes(table.shape()));
  return header.SerializeAsString();
}

// What a request asks for, besides the table.
struct Wanted {
  Selection selection;
  int64_t skip_rows = 0;
  ChunkData data = ChunkData::kSent;
};

void Begin(const ContextPtr& context, const TablePtr& table, const Wanted& wanted,
           const std::shared_ptr<StreamCall>& call) {
  absl::StatusOr<SlicePlan> plan = ResolveSelection(wanted.selection, table->shape());
  if (!plan.ok()) return call->Finish(plan.status());
  absl::Status skip = CheckSkip(wanted.skip_rows, plan->row_count());
  if (!skip.ok()) return call->Finish(std::move(skip));
  std::string header = SerializedHeader(*table, *plan);
  ChunkCursor cursor(table, *std::move(plan), wanted.skip_rows, context->block_bytes);
  std::make_shared<SliceStream>(context, table, std::move(cursor), std::move(header), wanted.data, call)
      ->Start();
}

}  // namespace

void StreamSlice(const ContextPtr& context, const SpecRequest<v1::StreamSliceRequest>& request,
                 const std::shared_ptr<StreamCall>& call) {
  const v1::StreamSliceRequest& fields = request.fields;
  absl::StatusOr<Selection> selection = DecodeSelectionOf(request.spec.status(), fields.selection());
  if (!selection.ok()) return call->Finish(selection.status());
  Wanted wanted{.selection = *std::move(selection),
                .skip_rows = fields.skip_rows(),
                .data = fields.checksums_only() ? ChunkData::kLeftOut : ChunkData::kSent};
  OpenTable(*context->store, **request.spec, *call,
            [context, wanted = std::move(wanted), call](absl::StatusOr<TablePtr> table) {
    CatchExceptions(
        [&] {
          if (!table.ok()) return call->Finish(table.status());
          Begin(context, *table, wanted, call);
        },
        [&](absl::Status failure) { call->Finish(std::move(failure)); });
  });
}

}  // namespace posenc

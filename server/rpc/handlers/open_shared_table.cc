#include "server/rpc/handlers/open_shared_table.h"

#include <utility>

#include "proto/spec_codec.h"
#include "server/rpc/calls/exceptions.h"
#include "server/rpc/handlers/table_messages.h"
#include "server/rpc/slices/slice_frame.h"
#include "server/tables/shared_tables.h"

namespace posenc {
namespace {

absl::StatusOr<Frame> Encode(const SharedContext& context, const Table& table,
                             const SharedTables::SharedTable& shared) {
  const TableShape& shape = table.shape();
  const absl::StatusOr<SlicePlan> whole = ResolveSelection(Selection(), shape);
  if (!whole.ok()) return whole.status();
  v1::OpenSharedTableResponse response;
  response.set_table_key(table.key().ToHex());
  response.set_token(shared.token);
  response.set_socket_path(context.shared_memory_socket);
  const std::byte* const begin = shared.block->tensor(0).data();
  for (size_t t = 0; t < shape.tensors.size(); ++t) {
    v1::SharedTensor& tensor = *response.add_tensors();
    EncodeTensorInfo(*whole, shape.tensors[t], tensor.mutable_info());
    const std::span<const std::byte> data = shared.block->tensor(t);
    tensor.set_offset_bytes(data.data() - begin);
    tensor.set_size_bytes(static_cast<int64_t>(data.size()));
  }
  return FrameMessage(response);
}

void Offer(const ContextPtr& context, const TablePtr& table, const std::shared_ptr<UnaryCall>& call) {
  call->StartRequest([&] {
    return context->shared_tables->Offer(
        call->peer(), table, call->memory_deadline(),
        [context, table, call](absl::StatusOr<SharedTables::SharedTable> shared) {
          CatchExceptions(
              [&] {
                if (!shared.ok()) return call->Respond(shared.status());
                call->Respond(Encode(*context, *table, *shared));
              },
              [&](absl::Status failure) { call->Respond(std::move(failure)); });
        });
  });
}

}  // namespace

void OpenSharedTable(const ContextPtr& context, const v1::OpenSharedTableRequest& request,
                     const std::shared_ptr<UnaryCall>& call) {
  if (context->shared_tables == nullptr) {
    return call->Respond(absl::FailedPreconditionError(
        "this server has no socket for shared memory (--shared-memory-socket); use StreamSlice"));
  }
  if (request.socket_only()) {
    v1::OpenSharedTableResponse response;
    response.set_socket_path(context->shared_memory_socket);
    return call->Respond(FrameMessage(response));
  }
  absl::StatusOr<TableSpec> spec = DecodeNormalizedSpec(request.spec(), *context->catalog);
  if (!spec.ok()) return call->Respond(spec.status());
  auto on_table = [context, call](absl::StatusOr<TablePtr> table) {
    CatchExceptions(
        [&] {
          if (!table.ok()) return call->Respond(table.status());
          Offer(context, *table, call);
        },
        [&](absl::Status failure) { call->Respond(std::move(failure)); });
  };
  call->StartRequest([&] { return context->store->Open(call->peer(), *spec, std::move(on_table)); });
}

}  // namespace posenc

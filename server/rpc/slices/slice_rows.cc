#include "server/rpc/slices/slice_rows.h"

#include <algorithm>
#include <utility>

#include "server/rpc/calls/exceptions.h"
#include "server/rpc/slices/row_assembly.h"

namespace posenc {
namespace {

using Blocks = std::vector<BlockPtr>;

// References the part of `block` that lies within `run`, for every tensor.
void AppendRows(const Table& table, const BlockPtr& block, const RowRun& run, RowData& rows) {
  const int64_t begin = std::max(run.begin, block->first_row());
  const int64_t end = std::min(run.end, block->first_row() + block->row_count());
  const std::vector<TensorShape>& tensors = table.shape().tensors;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const auto row_bytes = static_cast<size_t>(tensors[t].row_bytes());
    const std::span<const std::byte> bytes = block->tensor(t).subspan(
        static_cast<size_t>(begin - block->first_row()) * row_bytes,
        static_cast<size_t>(end - begin) * row_bytes);
    rows.tensors[t].push_back({bytes, block});
  }
}

RowData ReferenceRows(const Table& table, const Blocks& blocks, const RowRun& run) {
  RowData rows;
  rows.tensors.resize(table.shape().tensors.size());
  for (const BlockPtr& block : blocks) AppendRows(table, block, run, rows);
  const Block& first = *blocks.front();
  if (blocks.size() == 1 && run.begin == first.first_row() && run.count() == first.row_count()) {
    rows.whole_block = blocks.front();
  }
  return rows;
}

absl::StatusOr<RowData> ReferenceRowsOrFail(const Table& table, const Blocks& blocks, const RowRun& run) {
  absl::StatusOr<RowData> rows;
  CatchExceptions([&] { rows = ReferenceRows(table, blocks, run); },
                  [&](absl::Status failure) { rows = std::move(failure); });
  return rows;
}

void FetchRun(TableStore& store, TablePtr table, const RowRun& run, const std::shared_ptr<Call>& call,
              RowsCallback done) {
  const int64_t first = table->BlockOfRow(run.begin);
  const int64_t last = table->BlockOfRow(run.end - 1);
  // The way of most calls of a warm server needs no peer.
  if (const Blocks resident = store.FetchResident(*table, first, last); !resident.empty()) {
    return done(ReferenceRowsOrFail(*table, resident, run));
  }
  auto on_blocks = [table, run, done = std::move(done)](absl::StatusOr<Blocks> blocks) {
    if (!blocks.ok()) return done(blocks.status());
    done(ReferenceRowsOrFail(*table, *blocks, run));
  };
  call->StartRequest([&] {
    return store.Fetch(call->peer(), table, first, last, call->memory_deadline(), std::move(on_blocks));
  });
}

}  // namespace

void FetchRows(TableStore& store, TablePtr table, PlanPtr plan, std::shared_ptr<Call> call,
               RowsCallback done) {
  if (call->cancelled()) return done(call->EndStatus());
  if (plan->row_count() == 0 || plan->row_bytes(table->shape()) == 0) {
    RowData empty;
    empty.tensors.resize(table->shape().tensors.size());
    return done(std::move(empty));
  }
  if (plan->whole_rows && plan->runs.size() == 1) {
    return FetchRun(store, std::move(table), plan->runs.front(), call, std::move(done));
  }
  AssembleRows(store, std::move(table), std::move(plan), std::move(call), std::move(done));
}

}  // namespace posenc

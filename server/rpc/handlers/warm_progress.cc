#include "server/rpc/handlers/warm_progress.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "posenc/v1/table_admin_service.pb.h"
#include "server/rpc/calls/exceptions.h"
#include "server/rpc/slices/slice_frame.h"
#include "server/tables/jobs/table_warmer.h"

namespace posenc {

WarmProgress::WarmProgress(ContextPtr context, std::vector<TableSpec> specs, bool pin,
                           std::shared_ptr<StreamCall> call)
    : context_(std::move(context)), specs_(std::move(specs)), pin_(pin), call_(std::move(call)) {}

void WarmProgress::Start() {
  call_->SetProducer(shared_from_this());
  WarmNext();
}

void WarmProgress::WarmNext() {
  if (call_->cancelled()) return call_->Finish(call_->EndStatus());
  size_t index = 0;
  {
    const std::lock_guard lock(mutex_);
    index = tables_done_;
  }
  auto on_table = [self = shared_from_this(), index](absl::StatusOr<TablePtr> table) {
    CatchExceptions(
        [&] {
          if (!table.ok()) return self->call_->Finish(table.status());
          self->WarmOpened(*table, index);
        },
        [&](absl::Status failure) { self->call_->Finish(std::move(failure)); });
  };
  call_->StartRequest(
      [&] { return context_->store->Open(call_->peer(), specs_[index], std::move(on_table)); });
}

void WarmProgress::WarmOpened(const TablePtr& opened, size_t index) {
  absl::Status fits = CheckFits(*opened);
  if (!fits.ok()) return call_->Finish(std::move(fits));
  WarmCallbacks callbacks;
  callbacks.progress = [self = shared_from_this(), index](const Table& table, int64_t done,
                                                          int64_t total) {
    // The last block's report is left to OnTableDone, which knows that the table is done.
    if (done < total) self->Submit({table.key(), done, total, index, false});
  };
  callbacks.done = [self = shared_from_this()](absl::StatusOr<TablePtr> table) {
    self->OnTableDone(std::move(table));
  };
  // The deadline is that of the work, not of one wait for memory: a long table takes longer than that.
  call_->StartRequest([&] {
    return WarmTable(*context_->store, call_->peer(), specs_[index], pin_, call_->work_deadline(),
                     std::move(callbacks));
  });
}

// Tables without a pin that do not fit together would evict each other: all the work, which the client may
// ask for without a deadline, for nothing. Pinned ones are checked by their pins.
absl::Status WarmProgress::CheckFits(const Table& table) {
  if (pin_) return absl::OkStatus();
  const uint64_t bytes = table.shape().total_bytes();
  const uint64_t limit = context_->store->stats().limit_bytes;
  const uint64_t left = limit - unpinned_bytes_;
  if (bytes > left) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the table has ", bytes, " bytes, but only ", left, " of the memory budget of ", limit,
        " are left to this warm-up: warm fewer or smaller tables, or raise --cache-bytes"));
  }
  unpinned_bytes_ += bytes;
  return absl::OkStatus();
}

void WarmProgress::OnTableDone(absl::StatusOr<TablePtr> table) {
  if (!table.ok()) return call_->Finish(table.status());
  size_t done = 0;
  {
    const std::lock_guard lock(mutex_);
    done = ++tables_done_;
  }
  const int64_t blocks = (*table)->block_count();
  Submit({(*table)->key(), blocks, blocks, done, true});
}

void WarmProgress::Submit(const Report& report) {
  {
    const std::lock_guard lock(mutex_);
    if (writing_) {
      waiting_ = report;
      return;
    }
    writing_ = true;
  }
  Write(report);
}

void WarmProgress::OnWritten() {
  std::optional<Report> next;
  {
    const std::lock_guard lock(mutex_);
    next = std::exchange(waiting_, std::nullopt);
    writing_ = next.has_value();
  }
  if (next) Write(*next);
}

void WarmProgress::Write(const Report& report) {
  CatchExceptions(
      [&] {
        v1::WarmTablesResponse response;
        response.set_table_key(report.key.ToHex());
        response.set_blocks_done(report.blocks_done);
        response.set_blocks_total(report.blocks_total);
        response.set_tables_done(static_cast<int32_t>(report.tables_done));
        response.set_tables_total(static_cast<int32_t>(specs_.size()));
        if (report.tables_done == specs_.size()) return call_->WriteLast(FrameMessage(response));
        call_->Write(FrameMessage(response));
        // Only now, so that a final report cannot be replaced by the next table's progress.
        if (report.final) WarmNext();
      },
      [&](absl::Status failure) { call_->Finish(std::move(failure)); });
}

}  // namespace posenc

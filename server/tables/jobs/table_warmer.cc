#include "server/tables/jobs/table_warmer.h"

#include <algorithm>
#include <utility>

#include "server/tables/jobs/cancellable.h"
#include "server/tables/jobs/trampoline.h"
#include "server/tables/memory/cached_block.h"

namespace posenc {
namespace {

// Blocks fetched together, so that the workers generate them side by side; fewer when the budget is small.
constexpr int64_t kMaxBlocksAtOnce = 16;
constexpr size_t kBudgetShareAtOnce = 8;

class WarmJob final : public Cancellable, public std::enable_shared_from_this<WarmJob> {
 public:
  WarmJob(TableStore& store, PeerId peer, bool pin, absl::Time deadline, WarmCallbacks callbacks)
      : store_(store), peer_(std::move(peer)), pin_(pin), deadline_(deadline), callbacks_(std::move(callbacks)) {}

  void Start(const TableSpec& spec) {
    store_.Run([self = shared_from_this(), spec] {
      self->store_.Open(self->peer_, spec, [self](absl::StatusOr<TablePtr> table) {
        self->Opened(std::move(table));
      });
    });
  }

 private:
  void Opened(absl::StatusOr<TablePtr> table) {
    if (!table.ok()) return Done(table.status());
    table_ = *std::move(table);
    if (absl::Status pinned = PinTable(); !pinned.ok()) return Done(std::move(pinned));
    const size_t share = store_.stats().limit_bytes / kBudgetShareAtOnce;
    blocks_at_once_ = std::clamp<int64_t>(static_cast<int64_t>(share / BlockCharge(*table_, 0)), 1,
                                          kMaxBlocksAtOnce);
    Report();
    trampoline_.Loop([this] { FetchMore(); });
  }

  absl::Status PinTable() {
    if (!pin_) return absl::OkStatus();
    const absl::Status status = store_.Pin(table_);
    unpin_on_failure_ = status.ok();
    return status;
  }

  void FetchMore() {
    if (cancelled()) return Done(absl::CancelledError("the warm-up was cancelled"));
    if (blocks_done_ == table_->block_count()) return Done(absl::OkStatus());
    const int64_t last =
        std::min(blocks_done_ + blocks_at_once_, table_->block_count()) - 1;
    SetCurrent(store_.Fetch(peer_, table_, blocks_done_, last, deadline_,
                            [self = shared_from_this(), last](const auto& blocks) {
                              self->Fetched(last, blocks.status());
                            }));
  }

  void Fetched(int64_t last, absl::Status status) {
    if (!status.ok()) return Done(std::move(status));
    while (blocks_done_ <= last) {
      ++blocks_done_;
      Report();
    }
    trampoline_.Next([this] { FetchMore(); });
  }

  void Report() {
    if (callbacks_.progress) callbacks_.progress(*table_, blocks_done_, table_->block_count());
  }

  void Done(absl::Status status) {
    if (!status.ok() && unpin_on_failure_) store_.Unpin(table_->key());
    const WarmCallbacks callbacks = std::exchange(callbacks_, {});
    if (!callbacks.done) return;
    callbacks.done(status.ok() ? absl::StatusOr<TablePtr>(table_) : std::move(status));
  }

  TableStore& store_;
  const PeerId peer_;
  const bool pin_;
  const absl::Time deadline_;
  WarmCallbacks callbacks_;
  TablePtr table_;
  bool unpin_on_failure_ = false;
  int64_t blocks_at_once_ = 1;
  int64_t blocks_done_ = 0;
  Trampoline trampoline_;
};

}  // namespace

std::shared_ptr<FetchTicket> WarmTable(TableStore& store, const PeerId& peer, const TableSpec& normalized,
                                       bool pin, absl::Time deadline, WarmCallbacks callbacks) {
  auto job = std::make_shared<WarmJob>(store, peer, pin, deadline, std::move(callbacks));
  job->Start(normalized);
  return job;
}

}  // namespace posenc

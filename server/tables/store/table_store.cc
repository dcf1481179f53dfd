#include "server/tables/store/table_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/tables/store/store_core.h"

namespace posenc {
namespace {

using Caller = StoreCore::Caller;

// The ticket of every request that was done before it had one.
std::shared_ptr<FetchTicket> DoneTicket() {
  class Done final : public FetchTicket {
    void Cancel() override {}
  };
  static const auto* const ticket = new std::shared_ptr<FetchTicket>(std::make_shared<Done>());
  return *ticket;
}

class BudgetedTableStore final : public TableStore {
 public:
  explicit BudgetedTableStore(const TableStoreOptions& options)
      : core_(std::make_shared<StoreCore>(options)) {}
  ~BudgetedTableStore() override { core_->Shutdown(); }

  std::shared_ptr<FetchTicket> Open(const PeerId& peer, const TableSpec& normalized, OpenCallback done) override {
    std::shared_ptr<FetchTicket> ticket = core_->Open(peer, normalized, std::move(done));
    return ticket == nullptr ? DoneTicket() : ticket;
  }

  TablePtr FindOpen(const TableKey& key) override { return core_->FindOpen(key); }

  std::vector<BlockPtr> FetchResident(const Table& table, int64_t first_block, int64_t last_block) override {
    return core_->FindResident(table.key(), first_block, last_block, /*count=*/true);
  }

  std::shared_ptr<FetchTicket> Fetch(const PeerId& peer, TablePtr table, int64_t first_block,
                                     int64_t last_block, absl::Time deadline, BlocksCallback done) override;
  void GenerateAhead(const TablePtr& table, int64_t first_block, int64_t last_block) override;

  BlockPtr FindResident(const Table& table, int64_t block) override {
    const std::vector<BlockPtr> found = core_->FindResident(table.key(), block, block, /*count=*/false);
    return found.empty() ? nullptr : found.front();
  }

  std::shared_ptr<FetchTicket> Allocate(const PeerId& peer, size_t size_bytes, absl::Time deadline,
                                        BufferCallback done) override;

  std::shared_ptr<void> WhileSomebodyWaits(WaitObserver observer) override {
    return core_->WhileSomebodyWaits(std::move(observer));
  }

  void Run(std::function<void()> work) override { core_->Run(std::move(work)); }

  absl::Status Pin(const TablePtr& table) override;
  void Unpin(const TableKey& key) override;
  absl::StatusOr<EvictionResult> Evict(const TableKey& key) override;
  EvictionResult EvictAll() override;

  std::vector<TableResidency> ListTables() const override {
    return core_->Read([](const StoreState& state) { return state.ListTables(); });
  }
  StoreStats stats() const override {
    return core_->Read([](const StoreState& state) { return state.stats(); });
  }
  void Shutdown() override { core_->Shutdown(); }

 private:
  const std::shared_ptr<StoreCore> core_;
};

std::shared_ptr<FetchTicket> BudgetedTableStore::Fetch(const PeerId& peer, TablePtr table, int64_t first_block,
                                                       int64_t last_block, absl::Time deadline,
                                                       BlocksCallback done) {
  const int64_t count = table->block_count();
  const bool in_range = 0 <= first_block && first_block <= last_block && last_block < count;
  if (in_range) {
    // The way of most requests of a warm server: no request is made, nothing has to be carried out.
    std::vector<BlockPtr> resident = core_->FindResident(table->key(), first_block, last_block, /*count=*/true);
    if (!resident.empty()) {
      done(std::move(resident));
      return DoneTicket();
    }
  }
  auto request = std::make_shared<FetchRequest>(core_, peer, std::move(table), first_block, last_block,
                                                deadline, std::move(done));
  if (in_range) {
    core_->Start(request);
  } else {
    request->stage = Request::Stage::kDone;
    request->Finish(absl::OutOfRangeError(absl::StrCat("blocks ", first_block, " to ", last_block,
                                                       " of a table of ", count, " blocks")));
  }
  return request;
}

void BudgetedTableStore::GenerateAhead(const TablePtr& table, int64_t first_block, int64_t last_block) {
  const int64_t last = std::min(last_block, table->block_count() - 1);
  core_->Do(Caller::kOther, [&](StoreState& state, AfterUnlock& after) {
    state.GenerateAhead(table, std::max<int64_t>(first_block, 0), last, after);
  });
}

std::shared_ptr<FetchTicket> BudgetedTableStore::Allocate(const PeerId& peer, size_t size_bytes,
                                                          absl::Time deadline, BufferCallback done) {
  auto request = std::make_shared<ReserveRequest>(
      core_, peer, Charge::kBuffer, ChargeFor(size_bytes), deadline,
      [core = core_.get(), size_bytes, done = std::move(done)](absl::StatusOr<ReserveRequest::Grant> granted) {
        done(core->MakeBuffer(size_bytes, std::move(granted)));
      });
  core_->Start(request);
  return request;
}

absl::Status BudgetedTableStore::Pin(const TablePtr& table) {
  absl::Status status;
  core_->Do(Caller::kOther, [&](StoreState& state, AfterUnlock& after) {
    status = state.Pin(table, after);
  });
  return status;
}

void BudgetedTableStore::Unpin(const TableKey& key) {
  core_->Do(Caller::kOther,
            [&](StoreState& state, AfterUnlock& after) { state.Unpin(key, after); });
}

absl::StatusOr<EvictionResult> BudgetedTableStore::Evict(const TableKey& key) {
  absl::StatusOr<EvictionResult> result;
  core_->Do(Caller::kOther,
            [&](StoreState& state, AfterUnlock& after) { result = state.Evict(key, after); });
  return result;
}

EvictionResult BudgetedTableStore::EvictAll() {
  EvictionResult result;
  core_->Do(Caller::kOther,
            [&](StoreState& state, AfterUnlock& after) { result = state.EvictAll(after); });
  return result;
}

}  // namespace

std::unique_ptr<TableStore> MakeTableStore(const TableStoreOptions& options) {
  TableStoreOptions complete = options;
  if (!complete.make_generator) {
    complete.make_generator = [](const TableSpec& spec) { return MakeTableGenerator(spec); };
  }
  return std::make_unique<BudgetedTableStore>(complete);
}

}  // namespace posenc

// The part of StoreCore that makes tables: once for all who ask at the same time, on a worker.

#include <utility>

#include "absl/time/clock.h"
#include "server/tables/store/store_core.h"

namespace posenc {
namespace {

// Open has no deadline of its own; requests are given up at about this time too.
constexpr absl::Duration kMaxTableWait = absl::Seconds(30);

absl::Status ShuttingDown() { return absl::CancelledError("the server is shutting down"); }

}  // namespace

void StoreCore::Open(const TableSpec& normalized, TableStore::OpenCallback done) {
  const TableKey key = KeyOf(normalized);
  TablePtr table;
  bool closed = false;
  bool first = false;
  {
    MutexLock lock(&mutex_);
    closed = state_.closed();
    if (!closed) table = state_.FindTable(key);
    if (!closed && !table) {
      std::vector<TableStore::OpenCallback>& flight = opens_[key];
      first = flight.empty();
      flight.push_back(std::move(done));
    }
  }
  if (closed) return done(ShuttingDown());
  if (table) return done(std::move(table));
  if (first) Run([this, key, normalized] { MakeTable(key, normalized, 0); });
}

TablePtr StoreCore::FindOpen(const TableKey& key) {
  MutexLock lock(&mutex_);
  return state_.closed() ? nullptr : state_.FindTable(key);
}

// What the table costs is known only when it is made. When its bytes are not free, it is thrown away and
// made again once they are: a flood of new tables must not pile up beside the budget.
void StoreCore::MakeTable(const TableKey& key, const TableSpec& spec, size_t paid_bytes) {
  auto generator = options_.make_generator(spec);
  if (!generator.ok()) {
    if (paid_bytes > 0) Refund(Charge::kGenerator, paid_bytes);
    return FinishOpen(key, generator.status());
  }
  auto table = std::make_unique<const Table>(spec, *std::move(generator), options_.block_bytes);
  const size_t charge = paid_bytes > 0 ? paid_bytes : TableCharge(*table);
  bool paid = paid_bytes > 0;
  if (!paid) {
    Do(Caller::kWorker, [&](StoreState& state, AfterUnlock& after) {
      paid = state.TryReserve(Charge::kGenerator, charge, after);
    });
  }
  if (!paid) {
    table.reset();
    return WaitForTableMemory(key, spec, charge);
  }
  absl::StatusOr<TablePtr> charged = Charged(std::move(table), charge);
  bool closed = false;
  Do(Caller::kWorker, [&](StoreState& state, AfterUnlock& after) {
    closed = state.closed();
    if (!closed) state.Keep(*charged, after);
  });
  if (closed) charged = ShuttingDown();
  FinishOpen(key, std::move(charged));
}

void StoreCore::WaitForTableMemory(const TableKey& key, const TableSpec& spec,
                                   size_t charge_bytes) {
  Start(std::make_shared<ReserveRequest>(
      weak_from_this(), Charge::kGenerator, charge_bytes, absl::Now() + kMaxTableWait,
      [this, key, spec, charge_bytes](const absl::StatusOr<BlockMemory>& granted) {
        if (!granted.ok()) return FinishOpen(key, granted.status());
        Run([this, key, spec, charge_bytes] { MakeTable(key, spec, charge_bytes); });
      }));
}

// Returns the table with a destructor that gives its bytes back, whenever that is.
TablePtr StoreCore::Charged(std::unique_ptr<const Table> table, size_t charge_bytes) {
  return TablePtr(table.release(), [core = shared_from_this(), charge_bytes](const Table* gone) {
    delete gone;
    core->Refund(Charge::kGenerator, charge_bytes);
  });
}

void StoreCore::FinishOpen(const TableKey& key, absl::StatusOr<TablePtr> result) {
  std::vector<TableStore::OpenCallback> flight;
  {
    MutexLock lock(&mutex_);
    const auto found = opens_.find(key);
    flight = std::move(found->second);
    opens_.erase(found);
  }
  for (size_t i = 1; i < flight.size(); ++i) flight[i](result);
  flight.front()(std::move(result));
}

}  // namespace posenc

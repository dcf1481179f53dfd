// The part of StoreCore that makes tables: once for all who ask at the same time, on a worker.

#include <algorithm>
#include <utility>

#include "server/tables/store/store_core.h"
#include "server/tables/store/want_of_memory.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// Open has no deadline of its own; requests are given up at about this time too.
constexpr absl::Duration kMaxTableWait = absl::Seconds(30);

// What is given back for a table that the system has no memory for; what it needs is not known.
constexpr size_t kShedBytes = size_t{64} << 20;

absl::Status ShuttingDown() { return absl::CancelledError("the server is shutting down"); }

}  // namespace

class OpenTicket final : public FetchTicket {
 public:
  OpenTicket(std::weak_ptr<StoreCore> core, std::weak_ptr<OpenFlight> flight, int64_t number)
      : core_(std::move(core)), flight_(std::move(flight)), number_(number) {}

  void Cancel() override {
    const std::shared_ptr<StoreCore> core = core_.lock();
    const std::shared_ptr<OpenFlight> flight = flight_.lock();
    if (core != nullptr && flight != nullptr) core->LeaveOpen(flight, number_);
  }

 private:
  const std::weak_ptr<StoreCore> core_;
  const std::weak_ptr<OpenFlight> flight_;
  const int64_t number_;
};

std::shared_ptr<FetchTicket> StoreCore::Open(const PeerId& peer, const TableSpec& normalized,
                                             TableStore::OpenCallback done) {
  const TableKey key = KeyOf(normalized);
  TablePtr table;
  bool closed = false;
  bool first = false;
  FlightPtr flight;
  int64_t number = 0;
  {
    MutexLock lock(&mutex_);
    closed = state_.closed();
    if (!closed) table = state_.FindTable(key);
    if (!closed && !table) {
      FlightPtr& known = opens_[key];
      first = known == nullptr;
      if (first) known = std::make_shared<OpenFlight>(peer, normalized, key);
      flight = known;
      number = ++flight->last_number;
      flight->waiters.emplace_back(number, std::move(done));
    }
  }
  if (flight == nullptr) {
    done(closed ? absl::StatusOr<TablePtr>(ShuttingDown()) : std::move(table));
    return nullptr;
  }
  if (first) fair_work_.Run(flight->peer, [this, flight] { MakeTable(flight, 0); });
  return std::make_shared<OpenTicket>(weak_from_this(), flight, number);
}

TablePtr StoreCore::FindOpen(const TableKey& key) {
  MutexLock lock(&mutex_);
  return state_.closed() ? nullptr : state_.FindTable(key);
}

// A flight without waiters is over: whoever asks next begins another one.
void StoreCore::LeaveOpen(const FlightPtr& flight, int64_t number) {
  TableStore::OpenCallback done;
  std::shared_ptr<FetchTicket> memory;
  {
    MutexLock lock(&mutex_);
    const auto waiter = std::find_if(flight->waiters.begin(), flight->waiters.end(),
                                     [&](const auto& other) { return other.first == number; });
    if (waiter == flight->waiters.end()) return;  // it was called back
    done = std::move(waiter->second);
    flight->waiters.erase(waiter);
    if (flight->waiters.empty()) {
      opens_.erase(flight->key);
      memory = std::move(flight->memory);
    }
  }
  if (memory != nullptr) memory->Cancel();
  Run([done = std::move(done)] { done(absl::CancelledError("the request was cancelled")); });
}

// What the table costs is known only when it is made. When its bytes are not free, it is thrown away and
// made again once they are: a flood of new tables must not pile up beside the budget.
void StoreCore::MakeTable(const FlightPtr& flight, size_t paid_bytes) {
  const auto stop = [&](const absl::Status& status) {
    if (paid_bytes > 0) Refund(Charge::kGenerator, paid_bytes);
    FinishOpen(flight, status);
  };
  if (!IsWanted(*flight)) return stop(absl::CancelledError("nobody waits for the table any more"));
  absl::StatusOr<std::unique_ptr<const Table>> made = NewTable(flight->spec);
  if (IsWantOfMemory(made.status())) {
    ShedMemory(kShedBytes);
    made = NewTable(flight->spec);
  }
  if (!made.ok()) return stop(made.status());
  std::unique_ptr<const Table> table = *std::move(made);
  const size_t charge = paid_bytes > 0 ? paid_bytes : TableCharge(*table);
  bool paid = paid_bytes > 0;
  if (!paid) {
    Do(Caller::kWorker, [&](StoreState& state, AfterUnlock& after) {
      paid = state.TryReserve(Charge::kGenerator, charge, after);
    });
  }
  if (!paid) {
    table.reset();
    return WaitForTableMemory(flight, charge);
  }
  absl::StatusOr<TablePtr> charged = Charged(std::move(table), charge);
  bool closed = false;
  Do(Caller::kWorker, [&](StoreState& state, AfterUnlock& after) {
    closed = state.closed();
    if (!closed) state.Keep(*charged, after);
  });
  if (closed) charged = ShuttingDown();
  FinishOpen(flight, std::move(charged));
}

absl::StatusOr<std::unique_ptr<const Table>> StoreCore::NewTable(const TableSpec& spec) {
  try {
    auto generator = options_.make_generator(spec);
    if (!generator.ok()) return generator.status();
    return std::make_unique<const Table>(spec, *std::move(generator), options_.block_bytes);
  } catch (const std::bad_alloc&) {
    return NoSystemMemory();
  }
}

void StoreCore::WaitForTableMemory(const FlightPtr& flight, size_t charge_bytes) {
  auto request = std::make_shared<ReserveRequest>(
      weak_from_this(), flight->peer, Charge::kGenerator, charge_bytes, SteadyNow() + kMaxTableWait,
      [this, flight, charge_bytes](const absl::StatusOr<ReserveRequest::Grant>& granted) {
        if (!granted.ok()) return FinishOpen(flight, granted.status());
        fair_work_.Run(flight->peer, [this, flight, charge_bytes] { MakeTable(flight, charge_bytes); });
      });
  {
    MutexLock lock(&mutex_);
    if (flight->waiters.empty()) return;
    flight->memory = request;
  }
  Start(request);
}

// Returns the table with a destructor that gives its bytes back, whenever that is.
TablePtr StoreCore::Charged(std::unique_ptr<const Table> table, size_t charge_bytes) {
  return TablePtr(table.release(), [core = shared_from_this(), charge_bytes](const Table* gone) {
    delete gone;
    core->Refund(Charge::kGenerator, charge_bytes);
  });
}

bool StoreCore::IsWanted(const OpenFlight& flight) {
  MutexLock lock(&mutex_);
  return !flight.waiters.empty();
}

void StoreCore::FinishOpen(const FlightPtr& flight, absl::StatusOr<TablePtr> result) {
  std::vector<std::pair<int64_t, TableStore::OpenCallback>> waiters;
  std::shared_ptr<FetchTicket> memory;
  {
    MutexLock lock(&mutex_);
    if (flight->waiters.empty()) return;  // all have left, and with them the flight
    waiters = std::exchange(flight->waiters, {});
    memory = std::move(flight->memory);
    opens_.erase(flight->key);
  }
  for (size_t i = 1; i < waiters.size(); ++i) waiters[i].second(result);
  waiters.front().second(std::move(result));  // nobody holds the table here while the last one uses it
}

}  // namespace posenc

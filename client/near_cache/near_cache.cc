#include "posenc/near_cache.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"
#include "client/api/forwarding_connection.h"
#include "client/near_cache/near_cache_store.h"

namespace posenc {
namespace {

// Every call ends before, see CallOptions::timeout.
constexpr absl::Duration kLongestWait = absl::Hours(24);

// A call under way, and those who wait for it.
struct Flight {
  std::mutex mutex;
  std::condition_variable_any landed;
  std::optional<absl::StatusOr<Table>> result;  // guarded by mutex
  const absl::Time begun = absl::Now();
  // The connection's, where the call ran into it. Written by the first caller, before there is a result.
  std::optional<absl::Duration> usual_timeout;
};

// Whether a call ended because of the caller's own wishes, which others do not share.
bool IsOfTheCaller(const absl::Status& status) {
  return status.code() == absl::StatusCode::kDeadlineExceeded || status.code() == absl::StatusCode::kCancelled;
}

class NearCache : public ForwardingConnection<CachingConnection> {
 public:
  NearCache(std::shared_ptr<Connection> inner, const NearCacheOptions& options)
      : ForwardingConnection(std::move(inner)), store_(options.max_bytes) {}

  absl::StatusOr<Table> Fetch(const FetchParams& params) override;
  std::optional<Table> Recall(const TableSpec& spec, const Selection& selection) override {
    return store_.Find(spec, selection);
  }
  bool FetchAsync(const FetchParams& params, std::function<void(absl::StatusOr<Table>)> done) override;

  NearCacheStats stats() const override {
    NearCacheStats stats = store_.stats();
    stats.misses = misses_;
    stats.coalesced = coalesced_;
    return stats;
  }
  void Clear() override { store_.Clear(); }

 private:
  std::optional<SliceIdentity> Identify(const TableSpec& spec, const Selection& selection);
  // The same for a table that has answers here; makes no generator.
  std::optional<SliceIdentity> IdentifyKnown(const TableSpec& spec, const Selection& selection);
  absl::StatusOr<Table> FetchOnce(const SliceIdentity& slice, const FetchParams& params);
  absl::StatusOr<Table> Lead(const SliceIdentity& slice, const FetchParams& params,
                             std::optional<absl::Time> deadline, Flight& flight);
  void Land(const std::string& identity, Flight& flight, absl::StatusOr<Table> result);

  mutable NearCacheStore store_;
  std::atomic<uint64_t> misses_ = 0;
  std::atomic<uint64_t> coalesced_ = 0;
  std::mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<Flight>> flights_;  // guarded by mutex_
};

std::optional<SliceIdentity> NearCache::Identify(const TableSpec& spec, const Selection& selection) {
  std::shared_ptr<const TableIdentity> table = store_.TableOf(spec);
  if (table == nullptr) table = IdentifyTable(spec);
  if (table == nullptr) return std::nullopt;
  return IdentifySlice(std::move(table), selection);
}

std::optional<SliceIdentity> NearCache::IdentifyKnown(const TableSpec& spec, const Selection& selection) {
  std::shared_ptr<const TableIdentity> table = store_.TableOf(spec);
  if (table == nullptr) {
    const std::optional<TableKey> key = IdentifyKey(spec);
    if (key) table = store_.TableOf(*key);
  }
  if (table == nullptr) return std::nullopt;
  return IdentifySlice(std::move(table), selection);
}

// Waits until the flight has landed; an error when the waiter's own time is up.
absl::StatusOr<Table> Await(Flight& flight, const CallOptions& call, absl::Time deadline, bool& own_end) {
  std::unique_lock lock(flight.mutex);
  const auto landed = [&] { return flight.result.has_value(); };
  own_end = true;
  if (!flight.landed.wait_until(lock, call.stop, absl::ToChronoTime(deadline), landed)) {
    if (call.stop.stop_requested()) return absl::CancelledError("stopped by the caller");
    return absl::DeadlineExceededError("waited for another caller's call of the same slice");
  }
  own_end = false;
  return *flight.result;
}

void NearCache::Land(const std::string& identity, Flight& flight, absl::StatusOr<Table> result) {
  {
    const std::lock_guard lock(mutex_);
    flights_.erase(identity);
  }
  const std::lock_guard lock(flight.mutex);
  flight.result = std::move(result);
  flight.landed.notify_all();
}

absl::StatusOr<Table> NearCache::Lead(const SliceIdentity& slice, const FetchParams& params,
                                      std::optional<absl::Time> deadline, Flight& flight) {
  absl::StatusOr<Table> result = absl::CancelledError("the call ended with an exception");
  // Memory may run out and the caller's on_progress may throw; those who wait are not left waiting.
  const absl::Cleanup land = [&] { Land(slice.text, flight, result); };
  if (store_.Learn(slice, params.spec, params.selection)) {
    if (std::optional<Table> table = Recall(params.spec, params.selection)) {
      result = *std::move(table);
      return absl::StatusOr<Table>(result);  // a copy: the other one lands
    }
  }
  FetchParams rest = params;
  if (deadline) rest.call.timeout = *deadline - absl::Now();
  ++misses_;
  result = inner_->Fetch(rest);
  const bool ran_out = absl::IsDeadlineExceeded(result.status());
  if (ran_out && !deadline) flight.usual_timeout = absl::Now() - flight.begun;
  // Before the flight has landed, so that whoever comes later finds the one or the other.
  if (result.ok()) store_.Insert(slice, params.spec, params.selection, *result);
  return absl::StatusOr<Table>(result);
}

absl::StatusOr<Table> NearCache::FetchOnce(const SliceIdentity& slice, const FetchParams& params) {
  const absl::Time begin = absl::Now();
  std::optional<absl::Duration> timeout = params.call.timeout;
  while (true) {
    std::shared_ptr<Flight> flight;
    bool leads = false;
    {
      const std::lock_guard lock(mutex_);
      std::shared_ptr<Flight>& entry = flights_[slice.text];
      leads = entry == nullptr;
      if (leads) entry = std::make_shared<Flight>();
      flight = entry;
    }
    if (leads) {
      return Lead(slice, params, timeout ? std::optional(begin + *timeout) : std::nullopt, *flight);
    }
    ++coalesced_;
    bool own_end = false;
    const absl::Time deadline = begin + std::min(timeout.value_or(kLongestWait), kLongestWait);
    absl::StatusOr<Table> result = Await(*flight, params.call, deadline, own_end);
    if (own_end || !IsOfTheCaller(result.status())) return result;
    // Who has no timeout has the connection's. It counts from the caller's own begin: callers who take over
    // from each other would otherwise wait for one after the other.
    if (!timeout) timeout = flight->usual_timeout;
    const bool is_up = timeout && begin + *timeout <= absl::Now();
    if (is_up && absl::IsDeadlineExceeded(result.status())) return result;
  }
}

absl::StatusOr<Table> NearCache::Fetch(const FetchParams& params) {
  if (std::optional<Table> table = Recall(params.spec, params.selection)) return *std::move(table);
  const std::optional<SliceIdentity> slice = Identify(params.spec, params.selection);
  if (!slice) {
    ++misses_;
    return inner_->Fetch(params);
  }
  return FetchOnce(*slice, params);
}

bool NearCache::FetchAsync(const FetchParams& params, std::function<void(absl::StatusOr<Table>)> done) {
  const std::optional<SliceIdentity> known = IdentifyKnown(params.spec, params.selection);
  // Fetch finds what another spelling brought here.
  if (known && store_.Learn(*known, params.spec, params.selection)) return false;
  const auto keep = [this, known, spec = params.spec, selection = params.selection,
                     done = std::move(done)](absl::StatusOr<Table> result) {
    if (result.ok()) {
      // A table that was not known is identified only here: that takes a generator, and calls return at once.
      const std::optional<SliceIdentity> slice = known ? known : Identify(spec, selection);
      if (slice) store_.Insert(*slice, spec, selection, *result);
    }
    done(std::move(result));
  };
  const bool begun = inner_->FetchAsync(params, keep);
  if (begun) ++misses_;
  return begun;
}

}  // namespace

std::shared_ptr<CachingConnection> client_v1::MakeCachingConnection(std::shared_ptr<Connection> inner,
                                                                    const NearCacheOptions& options) {
  return std::make_shared<NearCache>(std::move(inner), options);
}

}  // namespace posenc

#include "server/app/warmer.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/tables/jobs/table_warmer.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

constexpr absl::Duration kLogInterval = absl::Seconds(1);

// Takes the callbacks of one warm-up, which come from workers.
class Progress {
 public:
  Progress(const std::string& name, Logger& log) : name_(name), log_(log) {}

  void Report(int64_t blocks_done, int64_t blocks_total) {
    absl::MutexLock lock(&mutex_);
    const absl::Time now = SteadyNow();
    if (now - last_logged_ < kLogInterval) return;
    last_logged_ = now;
    log_.Info("warming", {{"table", name_}, {"blocks_done", blocks_done}, {"blocks_total", blocks_total}});
  }

  void Finish(absl::StatusOr<TablePtr> result) {
    absl::MutexLock lock(&mutex_);
    result_ = std::move(result);
  }

  absl::StatusOr<TablePtr> Wait() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Progress::finished));
    return *result_;
  }

 private:
  bool finished() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return result_.has_value(); }

  const std::string name_;
  Logger& log_;
  absl::Mutex mutex_;
  absl::Time last_logged_ ABSL_GUARDED_BY(mutex_) = SteadyNow();
  std::optional<absl::StatusOr<TablePtr>> result_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<TablePtr> WarmOne(TableStore& store, const WarmEntry& entry, StopRequest& stop,
                                 Logger& log) {
  // Shared with the callbacks, which may go later than the result comes.
  const auto progress = std::make_shared<Progress>(entry.name, log);
  WarmCallbacks callbacks;
  callbacks.progress = [progress](const Table&, int64_t done, int64_t total) {
    progress->Report(done, total);
  };
  callbacks.done = [progress](absl::StatusOr<TablePtr> result) { progress->Finish(std::move(result)); };
  const auto ticket =
      WarmTable(store, entry.spec, /*pin=*/true, absl::InfiniteFuture(), std::move(callbacks));
  const StopHook cancel(stop, [ticket] { ticket->Cancel(); });
  return progress->Wait();
}

}  // namespace

absl::Status WarmAll(TableStore& store, const std::vector<WarmEntry>& entries, StopRequest& stop,
                     Lifecycle& lifecycle, Logger& log) {
  std::vector<std::string> failures;
  for (const WarmEntry& entry : entries) {
    if (stop.requested()) return absl::CancelledError("stopped before the tables were warm");
    const absl::Time start = SteadyNow();
    const absl::StatusOr<TablePtr> table = WarmOne(store, entry, stop, log);
    if (stop.requested()) return absl::CancelledError("stopped before the tables were warm");
    if (!table.ok()) {
      lifecycle.TableFailed();
      const std::string reason(table.status().message());
      log.Error("table cannot be warmed", {{"table", entry.name}, {"reason", reason}});
      failures.push_back(absl::StrCat(entry.name, ": ", reason));
      continue;
    }
    lifecycle.TableWarmed();
    log.Info("table is warm", {{"table", entry.name},
                               {"key", (*table)->key().ToHex()},
                               {"bytes", static_cast<double>((*table)->shape().total_bytes())},
                               {"seconds", absl::ToDoubleSeconds(SteadyNow() - start)}});
  }
  if (failures.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("tables of --warm cannot be warmed: ", absl::StrJoin(failures, "; ")));
}

}  // namespace posenc

#include "client/cli/commands/load.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"

namespace posenc::cli {
namespace {

// How often the progress of a run is told.
constexpr absl::Duration kTick = absl::Milliseconds(100);

absl::StatusOr<uint64_t> Ask(Connection& connection, const LoadPlan& plan) {
  if (!plan.streamed) {
    const absl::StatusOr<Table> table =
        connection.Fetch({.spec = plan.spec, .selection = plan.selection, .call = plan.call});
    if (!table.ok()) return table.status();
    return table->size_bytes();
  }
  uint64_t bytes = 0;
  StreamParams stream{.spec = plan.spec, .selection = plan.selection, .call = plan.call};
  stream.on_chunk = [&](const Chunk& chunk) {
    for (const auto& tensor : chunk.tensors) bytes += tensor.size();
    return absl::OkStatus();
  };
  if (absl::Status status = connection.Stream(stream); !status.ok()) return status;
  return bytes;
}

LoadResult RunClient(Connection& connection, const LoadPlan& plan, absl::Time end) {
  LoadResult result;
  absl::Time begin = absl::Now();
  do {
    const absl::StatusOr<uint64_t> bytes = Ask(connection, plan);
    const absl::Time now = absl::Now();
    if (!bytes.ok()) {
      result.failures = 1;
      result.first_failure = bytes.status();
      return result;
    }
    result.bytes += *bytes;
    result.seconds.push_back(absl::ToDoubleSeconds(now - begin));
    begin = now;
  } while (begin < end);
  return result;
}

void Add(LoadResult part, LoadResult& whole) {
  whole.seconds.insert(whole.seconds.end(), part.seconds.begin(), part.seconds.end());
  whole.bytes += part.bytes;
  whole.failures += part.failures;
  if (whole.first_failure.ok()) whole.first_failure = std::move(part.first_failure);
}

}  // namespace

LoadResult RunLoad(const std::vector<std::shared_ptr<Connection>>& connections, const LoadPlan& plan,
                   const std::function<void(double share)>& on_progress) {
  LoadResult result;
  absl::Mutex mutex;
  size_t running = connections.size();
  const absl::Time begin = absl::Now();
  {
    std::vector<std::jthread> clients;
    for (const std::shared_ptr<Connection>& connection : connections) {
      clients.emplace_back([&, &client = *connection] {
        LoadResult part = RunClient(client, plan, begin + plan.duration);
        const absl::MutexLock lock(&mutex);
        Add(std::move(part), result);
        --running;
      });
    }
    const auto all_done = [&] { return running == 0; };
    absl::MutexLock lock(&mutex);
    while (!mutex.AwaitWithTimeout(absl::Condition(&all_done), kTick)) {
      on_progress(absl::FDivDuration(absl::Now() - begin, plan.duration));
    }
  }
  result.elapsed_seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  std::sort(result.seconds.begin(), result.seconds.end());
  return result;
}

double Quantile(const std::vector<double>& values, double share) {
  const double index = std::ceil(share * static_cast<double>(values.size())) - 1;
  return values[static_cast<size_t>(std::max(0.0, index))];
}

}  // namespace posenc::cli

// Load on a service: clients that ask for the same part of a table again and again.
//
// Blocks until all clients are done. Each client is a thread with a connection of its own.

#ifndef POSENC_CLIENT_CLI_COMMANDS_LOAD_H_
#define POSENC_CLIENT_CLI_COMMANDS_LOAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "posenc/client.h"

namespace posenc::cli {

struct LoadPlan {
  TableSpec spec = {};
  Selection selection = {};
  bool streamed = false;  // chunk by chunk, without keeping the answer
  absl::Duration duration = absl::Seconds(3);
  CallOptions call = {};
};

struct LoadResult {
  std::vector<double> seconds;  // of each call that was answered, ascending
  double elapsed_seconds = 0;
  uint64_t bytes = 0;           // of the tensors
  int64_t failures = 0;
  absl::Status first_failure;
};

// Runs one client for each connection until the time is over; every client makes one call at least, and a
// client whose call fails ends. `on_progress` is called by this thread with the share of the time.
LoadResult RunLoad(const std::vector<std::shared_ptr<Connection>>& connections, const LoadPlan& plan,
                   const std::function<void(double share)>& on_progress);

// The value below which `share` of the ascending `values` lie. Requires: there is a value.
double Quantile(const std::vector<double>& values, double share);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_COMMANDS_LOAD_H_

// Ends the process when a shutdown does not come to its end: Server::Shutdown waits for every handler, and
// one that never finishes would keep a container from stopping.
//
// Ownership: destroying the guard in time calls it off.

#ifndef POSENC_SERVER_APP_EXIT_GUARD_H_
#define POSENC_SERVER_APP_EXIT_GUARD_H_

#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "server/telemetry/log.h"

namespace posenc {

class ExitGuard {
 public:
  // After `timeout` logs an error and exits with code 1.
  ExitGuard(absl::Duration timeout, Logger& log);
  ~ExitGuard();

 private:
  absl::Notification called_off_;
  std::thread thread_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_EXIT_GUARD_H_

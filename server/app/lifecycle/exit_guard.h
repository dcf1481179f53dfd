// Ends the process when a shutdown does not come to its end. Server::Shutdown waits for every call, cancelled
// ones too, and gRPC closes a connection only once what it is writing has been taken: a peer that stopped
// reading would keep a container from stopping.
//
// Ownership: destroying the guard in time calls it off.

#ifndef POSENC_SERVER_APP_LIFECYCLE_EXIT_GUARD_H_
#define POSENC_SERVER_APP_LIFECYCLE_EXIT_GUARD_H_

#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "server/telemetry/log.h"

namespace posenc {

class ExitGuard {
 public:
  // After `timeout` logs a warning and exits with code 0: the drain is over, whoever did not follow it.
  ExitGuard(absl::Duration timeout, Logger& log);
  ~ExitGuard();

 private:
  absl::Notification called_off_;
  std::thread thread_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LIFECYCLE_EXIT_GUARD_H_

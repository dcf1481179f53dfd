// Turns SIGTERM, SIGINT, SIGQUIT and SIGHUP into a request to stop, on a thread that waits for them: what a
// drain needs may not be done inside a signal handler.
//
// The first signal requests the stop, a second one (over 100 ms later) ends the process at once with 128 + its
// number. SIGPIPE is ignored: a peer that is gone is an error of its call, not of the program. So is SIGUSR1,
// and SIGHUP where whoever started the program ignores it (nohup).

#ifndef POSENC_SERVER_APP_LIFECYCLE_SIGNALS_H_
#define POSENC_SERVER_APP_LIFECYCLE_SIGNALS_H_

#include <atomic>
#include <thread>

#include "server/app/lifecycle/stop_request.h"
#include "server/telemetry/log.h"

namespace posenc {

// Blocks the signals for this thread and all that it will start. Must be called before any thread starts.
void BlockStopSignals();

class SignalWaiter {
 public:
  // Requires: BlockStopSignals has been called. What it is given must outlive it.
  SignalWaiter(StopRequest& stop, Logger& log);
  ~SignalWaiter();

 private:
  std::atomic<bool> ended_{false};
  std::thread thread_;  // last: it reads what stands above
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LIFECYCLE_SIGNALS_H_

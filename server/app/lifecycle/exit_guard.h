// Ends the process when a part of its shutdown does not come to its end. Server::Shutdown waits for every call,
// cancelled ones too, and gRPC closes a connection only once what it is writing has been taken: a peer that
// stopped reading would keep a container from stopping. And gRPC's own threads may take ten seconds to join.
//
// Ownership: destroying the guard in time calls it off.

#ifndef POSENC_SERVER_APP_LIFECYCLE_EXIT_GUARD_H_
#define POSENC_SERVER_APP_LIFECYCLE_EXIT_GUARD_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "server/app/lifecycle/event.h"

namespace posenc {

class ExitGuard {
 public:
  // After `timeout` calls `last_words` and exits with `code`.
  ExitGuard(absl::Duration timeout, int code, std::function<void()> last_words);
  ~ExitGuard();

 private:
  Event called_off_;
  std::thread thread_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LIFECYCLE_EXIT_GUARD_H_

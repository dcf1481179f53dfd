// accept(2) for a loop that may neither spin nor go deaf when descriptors run out.
//
// Threads: one for each object.

#ifndef POSENC_SERVER_APP_LISTENERS_ACCEPT_ONE_H_
#define POSENC_SERVER_APP_LISTENERS_ACCEPT_ONE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/app/listeners/descriptor.h"
#include "server/telemetry/log.h"

namespace posenc {

class AcceptOne {
 public:
  enum class Result {
    kAccepted,
    kNobody,   // nobody waits, or whoever did has gone
    kRefused,  // there was no descriptor: whoever waited was sent away; there may be more
    kTired,    // not even that could be done: come back after kPause
  };
  static constexpr absl::Duration kPause = absl::Milliseconds(50);

  // `what` names the listener in the log; a null log writes nothing.
  AcceptOne(std::string what, Logger* log);

  // Takes one connection from a listener, non-blocking and closed on exec.
  Result From(int listener, Descriptor& connection);

  // Logs that connections are refused, at most once in ten seconds, with the number of them since.
  void LogRefusal(absl::string_view reason);

 private:
  Descriptor OpenSpare() const;

  const std::string what_;
  Logger* const log_;
  Descriptor spare_;  // given up for a moment to accept, and so to refuse, whoever waits
  absl::Time logged_ = absl::InfinitePast();
  int refused_ = 0;  // since then
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_ACCEPT_ONE_H_

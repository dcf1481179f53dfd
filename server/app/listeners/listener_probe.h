// Asks the program's own listeners from time to time whether they still answer, as a client would: connects,
// sends HTTP/2's preface and waits for the server's. A listener that is lost in whatever way is then told
// by /livez, and whoever runs the program can start it again.
//
// Only a listener that takes a connection and says nothing, or takes none, for `failures` rounds is deaf. One
// that hangs up is not: it is full, and says so. Where no descriptor is left to ask with, nothing is known.
//
// Threads: one of its own; `report` is called on it.

#ifndef POSENC_SERVER_APP_LISTENERS_LISTENER_PROBE_H_
#define POSENC_SERVER_APP_LISTENERS_LISTENER_PROBE_H_

#include <sys/socket.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "server/app/listeners/descriptor.h"

namespace posenc {

// A listener, and where it is reached.
class ProbeTarget {
 public:
  // `listener` is a socket that listens; only its address is kept.
  ProbeTarget(std::string name, int listener);

  enum class Answer { kAnswers, kSilent, kUnknown, kInterrupted };
  // Asks once. Ends early when `wake` becomes readable.
  Answer Ask(absl::Duration limit, int wake) const;

  const std::string& name() const { return name_; }

 private:
  std::string name_;
  sockaddr_storage address_{};
  socklen_t size_ = sizeof(address_);
};

struct ProbeOptions {
  absl::Duration interval = absl::Seconds(5);
  absl::Duration limit = absl::Seconds(5);  // for one answer
  int failures = 3;
  // Called after each round with the name of a deaf listener, or with "" when there is none. May be empty.
  std::function<void(const std::string& deaf)> report;
};

class ListenerProbe {
 public:
  ListenerProbe(std::vector<ProbeTarget> targets, ProbeOptions options);
  ~ListenerProbe();

 private:
  void Run();

  const std::vector<ProbeTarget> targets_;
  const ProbeOptions options_;
  const Descriptor wake_;  // an eventfd that ends the thread
  std::thread thread_;     // last: it uses what stands above
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_LISTENER_PROBE_H_

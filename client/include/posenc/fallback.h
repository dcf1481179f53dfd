// A service's outage costs nothing: tables are computed in this process while it cannot be reached.
//
//   posenc::Client client(posenc::MakeConnectionWithFallback("dns:///posenc:50051"));
//
// The numbers are the same, bit for bit, since service and library compute with the same code; only the
// counters tell which of the two has answered.
//
// Which calls: Describe, Fetch (Get, Slice, Gather), Stream (ReadInto) and ResolveModel. All else is about
//   the service itself and goes there alone, and so does a stream of checksums.
// When: the call ended with Unavailable (or its connection died, or somebody else cancelled it), or with
//   DeadlineExceeded before any row was delivered. Every other error is an answer, and is returned. A stream
//   that breaks off goes on here, behind the last row that it delivered: each row is delivered once, into the
//   same memory.
// Circuit breaker: a service that could not be reached is not asked again for a while, so that only the
//   first of many calls waits. Then a thread connects and asks for its health, for probe_timeout at most,
//   while all calls are still computed here; a service that serves gets the calls again, one that does not
//   is left alone for twice as long. A new connection begins with that question, and its first call waits for
//   the answer. The destructor waits for a question that is under way.
//   A deadline that was shorter than probe_timeout is no outage: that call alone is computed here.
// What this process cannot compute (tables that only the service has stored) is asked of the service at all
//   times; when that fails, the service's error names the local one too.
// Threads: any method, any thread.

#ifndef POSENC_FALLBACK_H_
#define POSENC_FALLBACK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "posenc/connect.h"
#include "posenc/connection.h"

namespace posenc {
inline namespace client_v1 {

// The time without calls after an outage began is a random part (half or more) of initial_pause, and twice
// as long after every probe that failed, up to max_pause. probe_timeout must be longer than connecting takes.
struct FallbackOptions {
  absl::Duration initial_pause = absl::Seconds(1);
  absl::Duration max_pause = absl::Seconds(30);
  absl::Duration probe_timeout = absl::Milliseconds(500);
};

// What became of the calls so far. A call counts once: where its answer, or the end of it, came from.
struct FallbackStats {
  uint64_t answered_by_service = 0;  // its errors included, but for those of not being reached
  uint64_t answered_locally = 0;
  uint64_t continued_locally = 0;  // of these, streams whose first rows the service had sent
  uint64_t failed = 0;             // neither of the two had an answer
  uint64_t outages = 0;            // times that the service was found to be unreachable
  bool service_in_use = false;     // whether the next call goes to the service
  std::string last_reason = {};    // of the last outage; empty without one
  absl::Time last_outage = absl::InfinitePast();
};

class FallbackConnection : public Connection {
 public:
  virtual FallbackStats stats() const = 0;
};

// Returns a connection that asks `primary`, and `local` when that cannot be reached (null: a
// MakeLocalConnection()). Let `primary` give up soon: ConnectionOptions{.retry = {.max_attempts = 2},
// .wait_for_ready = false}, else the first call of an outage waits for its deadline.
std::shared_ptr<FallbackConnection> MakeConnectionWithFallback(
    std::shared_ptr<Connection> primary, std::shared_ptr<Connection> local = nullptr,
    const FallbackOptions& options = {});

// Returns the same for MakeConnection(target, connection) that gives up soon: two attempts at most, and no
// waiting for the server to come back.
std::shared_ptr<FallbackConnection> MakeConnectionWithFallback(const std::string& target,
                                                               ConnectionOptions connection = {},
                                                               const FallbackOptions& options = {});

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_FALLBACK_H_

// Client objects of Python: a connection and what it was put together from.

#ifndef POSENC_CLIENT_PYTHON_BINDING_CONNECTIONS_H_
#define POSENC_CLIENT_PYTHON_BINDING_CONNECTIONS_H_

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "posenc/connection.h"
#include "posenc/fallback.h"
#include "posenc/near_cache.h"
#include "posenc/verified.h"
#include "pybind11/pybind11.h"

namespace posenc::python {

// What Client of Python holds. Threads: any. The destructor waits for the connection's threads without the
// GIL; in a process that was forked off the one that made it, it leaves the connection alone.
class PythonClient {
 public:
  PythonClient() = default;
  ~PythonClient();
  PythonClient(const PythonClient&) = delete;
  PythonClient& operator=(const PythonClient&) = delete;

  // Returns the connection. Errors: FailedPrecondition is raised for a service's in a forked process: gRPC's
  // threads did not come along.
  Connection& connection() const;

  std::string target = {};  // empty: this process
  std::shared_ptr<Connection> outermost = {};
  std::shared_ptr<CachingConnection> cache = {};        // null without a near cache
  std::shared_ptr<FallbackConnection> fallback = {};    // null without
  std::shared_ptr<VerifiedConnection> verified = {};    // null without

 private:
  const pid_t process_ = getpid();
};

// Make clients from the keywords of Client and of local, which connections.cc lists.
std::unique_ptr<PythonClient> ConnectFromPython(const std::string& target, const pybind11::kwargs& options);
std::unique_ptr<PythonClient> LocalFromPython(const pybind11::kwargs& options);

// Counters of the parts that a client has: {"near_cache": {...}, "fallback": {...}, "verified": {...}}.
pybind11::dict StatsOf(const PythonClient& client);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_CONNECTIONS_H_

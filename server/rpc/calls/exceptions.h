// Turns exceptions into statuses. Nothing here throws on purpose, but allocation may fail, and an
// exception that leaves a callback would end the process for every client.
//
// Threads: pure functions.

#ifndef POSENC_SERVER_RPC_CALLS_EXCEPTIONS_H_
#define POSENC_SERVER_RPC_CALLS_EXCEPTIONS_H_

#include "absl/status/status.h"

namespace posenc {

// Returns the status of the exception being handled: RESOURCE_EXHAUSTED for memory, else INTERNAL.
// Requires: called inside a catch block.
absl::Status StatusOfException();

// Runs `work`; an exception goes to `on_error` as a status.
template <typename Work, typename OnError>
void CatchExceptions(Work&& work, OnError&& on_error) {
  try {
    work();
  } catch (...) {
    on_error(StatusOfException());
  }
}

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_EXCEPTIONS_H_

// What the store says and does when the system has no memory, as opposed to the budget.
//
// Threads: pure functions.

#ifndef POSENC_SERVER_TABLES_STORE_WANT_OF_MEMORY_H_
#define POSENC_SERVER_TABLES_STORE_WANT_OF_MEMORY_H_

#include <new>

#include "absl/status/status.h"

namespace posenc {

inline absl::Status NoSystemMemory() {
  return absl::ResourceExhaustedError("the system has no memory left for the server");
}

inline bool IsWantOfMemory(const absl::Status& status) { return status == NoSystemMemory(); }

// Runs `work` to its end or to where it has no memory.
template <typename Work>
void IgnoreBadAlloc(Work&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    return;  // there is nobody to tell, and no memory to tell it with
  }
}

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_WANT_OF_MEMORY_H_

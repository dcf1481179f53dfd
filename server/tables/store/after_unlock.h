// What has to happen once the store's lock is released: the bookkeeping under the lock only decides.
//
// Order: memory goes back to the system before builds start, because their bytes may be the same bytes of
// the budget; call-backs come last.

#ifndef POSENC_SERVER_TABLES_STORE_AFTER_UNLOCK_H_
#define POSENC_SERVER_TABLES_STORE_AFTER_UNLOCK_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/tables/memory/block_memory.h"
#include "server/tables/store/request.h"

namespace posenc {

struct BlockBuild;

struct AfterUnlock {
  struct Completion {
    RequestPtr request;
    absl::Status status;
  };

  std::vector<BlockMemory> dead;   // goes back to the system
  size_t freed_bytes = 0;          // of `dead`, what was taken off the budget already …
  size_t fresh_bytes = 0;          // … in favour of memory that is still to be allocated
  size_t retiring_bytes = 0;       // of `dead`, what stays charged until it is gone
  std::vector<std::shared_ptr<BlockBuild>> builds;
  std::vector<std::shared_ptr<BlockBuild>> builds_ahead;  // nobody waits for these
  std::vector<Completion> completions;
  std::vector<std::shared_ptr<const void>> garbage;  // things whose destructors take the lock
  absl::Time wake_by = absl::InfiniteFuture();
  bool joined_line = false;  // somebody waits who did not before
  bool admit = false;  // somebody in line may fit now: look on a worker
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_AFTER_UNLOCK_H_

// The ticket of a piece of work that consists of many fetches: cancels the one that is under way and keeps
// the next from starting.
//
// Threads: any.

#ifndef POSENC_SERVER_TABLES_JOBS_CANCELLABLE_H_
#define POSENC_SERVER_TABLES_JOBS_CANCELLABLE_H_

#include <memory>
#include <utility>

#include "server/tables/store/table_store.h"
#include "server/tables/threads/mutex.h"

namespace posenc {

class Cancellable : public FetchTicket {
 public:
  void Cancel() override {
    std::shared_ptr<FetchTicket> current;
    {
      MutexLock lock(&mutex_);
      cancelled_ = true;
      current = std::move(current_);
    }
    if (current) current->Cancel();
  }

 protected:
  bool cancelled() {
    MutexLock lock(&mutex_);
    return cancelled_;
  }

  // Names the fetch that Cancel has to cancel from now on. It may be done already.
  void SetCurrent(std::shared_ptr<FetchTicket> ticket) {
    {
      MutexLock lock(&mutex_);
      if (!cancelled_) {
        current_ = std::move(ticket);
        return;
      }
    }
    ticket->Cancel();
  }

 private:
  absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<FetchTicket> current_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_JOBS_CANCELLABLE_H_

// Work for peers on the pool: each peer has its own line, and the lines are served in turns.
//
// So whoever asks for a thousand tables at once delays everybody else by one of them for each worker.
//
// Threads: any. The pool must outlive this object, and runs all of its work before it shuts down.

#ifndef POSENC_SERVER_TABLES_STORE_FAIR_WORK_H_
#define POSENC_SERVER_TABLES_STORE_FAIR_WORK_H_

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "server/tables/memory/peer.h"
#include "server/tables/threads/mutex.h"
#include "server/tables/threads/worker_pool.h"

namespace posenc {

class FairWork {
 public:
  explicit FairWork(WorkerPool& pool) : pool_(pool) {}

  void Run(const PeerId& peer, std::function<void()> work) {
    {
      MutexLock lock(&mutex_);
      Line& line = lines_[peer.name()];
      if (line.empty()) turns_.push_back(peer.name());
      line.push_back(std::move(work));
    }
    pool_.Run([this] { Next()(); });  // not this work: that of whoever's turn it is then
  }

 private:
  using Line = std::deque<std::function<void()>>;

  std::function<void()> Next() {
    MutexLock lock(&mutex_);
    const auto found = lines_.find(turns_.front());
    std::function<void()> work = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) {
      lines_.erase(found);
    } else {
      turns_.push_back(std::move(turns_.front()));
    }
    turns_.pop_front();
    return work;
  }

  WorkerPool& pool_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Line> lines_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> turns_ ABSL_GUARDED_BY(mutex_);  // the peers of lines_, next first
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_FAIR_WORK_H_

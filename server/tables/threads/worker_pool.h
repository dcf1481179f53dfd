// The threads that generate blocks, put answers together and call back; and the queue before them.
//
// Threads: Run from any thread. Shutdown and the destructor from any thread but a worker.
// Work runs in the order of its arrival, and what nobody waits for yet behind all other. It must not block:
// there are only as many workers as CPUs.

#ifndef POSENC_SERVER_TABLES_THREADS_WORKER_POOL_H_
#define POSENC_SERVER_TABLES_THREADS_WORKER_POOL_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "server/tables/threads/mutex.h"

namespace posenc {

class WorkerPool {
 public:
  // Starts `threads` workers; 0: one for each CPU.
  explicit WorkerPool(int threads);
  ~WorkerPool() { Shutdown(); }

  // Queues work. After the last worker has gone, runs it on the caller's thread, so that nobody waits for
  // ever for work that was swallowed.
  void Run(std::function<void()> work) { Add(queue_, std::move(work)); }
  // The same for work that comes after all that Run has queued, or will have.
  void RunLater(std::function<void()> work) { Add(later_, std::move(work)); }

  // Lets the workers finish what is queued, and what that queues in turn, and joins them.
  void Shutdown();

  int threads() const { return threads_; }

 private:
  using Queue = std::deque<std::function<void()>>;

  void Add(Queue& queue, std::function<void()> work);
  void Work();
  std::function<void()> Next();

  const int threads_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  Queue queue_ ABSL_GUARDED_BY(mutex_);
  Queue later_ ABSL_GUARDED_BY(mutex_);
  int active_ ABSL_GUARDED_BY(mutex_) = 0;  // workers that may still queue more
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;  // closing, nothing queued, nobody active
  absl::Mutex join_mutex_;
  std::vector<std::jthread> workers_ ABSL_GUARDED_BY(join_mutex_);
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_THREADS_WORKER_POOL_H_

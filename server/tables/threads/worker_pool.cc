#include "server/tables/threads/worker_pool.h"

#include <algorithm>
#include <utility>

namespace posenc {
namespace {

int ThreadCount(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

WorkerPool::WorkerPool(int threads) : threads_(ThreadCount(threads)) {
  MutexLock lock(&join_mutex_);
  for (int i = 0; i < threads_; ++i) workers_.emplace_back([this] { Work(); });
}

void WorkerPool::Add(Queue& queue, std::function<void()> work) {
  {
    MutexLock lock(&mutex_);
    if (!closed_) {
      queue.push_back(std::move(work));
      changed_.Signal();
      return;
    }
  }
  work();
}

void WorkerPool::Shutdown() {
  {
    MutexLock lock(&mutex_);
    closing_ = true;
    changed_.SignalAll();
  }
  MutexLock lock(&join_mutex_);
  workers_.clear();
}

void WorkerPool::Work() {
  while (std::function<void()> work = Next()) {
    work();
    work = nullptr;  // what it holds may queue more when it goes
    MutexLock lock(&mutex_);
    --active_;
  }
}

// Returns the next piece of work, or null when there will be none.
std::function<void()> WorkerPool::Next() {
  MutexLock lock(&mutex_);
  while (queue_.empty() && later_.empty() && !(closing_ && active_ == 0)) WaitUntil(changed_, mutex_);
  Queue& queue = queue_.empty() ? later_ : queue_;
  if (queue.empty()) {
    closed_ = true;
    changed_.SignalAll();
    return nullptr;
  }
  ++active_;
  std::function<void()> work = std::move(queue.front());
  queue.pop_front();
  return work;
}

}  // namespace posenc

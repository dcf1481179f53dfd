// Where the server is in its life, asked by everyone who tells others: health, /readyz, the metrics and
// GetServerInfo.
//
// Ready means warm, not draining, and no listener deaf. Threads: any method, any thread, any time.

#ifndef POSENC_SERVER_APP_LIFECYCLE_LIFECYCLE_H_
#define POSENC_SERVER_APP_LIFECYCLE_LIFECYCLE_H_

#include <atomic>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace posenc {

// One condition of being ready.
struct Condition {
  std::string name;    // "warm"
  bool met = false;
  std::string detail;  // what it waits for, or how it was met: "1 of 3 tables ready"
};

class Lifecycle {
 public:
  void SetWarmTables(int count) { pending_ = count; }
  void TableWarmed() { --pending_, ++warmed_; }
  void TableFailed() { --pending_, ++failed_; }

  // The last act of start, and the first of stop.
  void SetServing() { serving_ = true; }
  void SetDraining() { draining_ = true; }

  // The address of a listener that does not answer any more; empty when all do.
  void SetDeafListener(std::string address);
  std::string deaf_listener() const;

  bool ready() const { return serving_ && !draining_ && !deaf_; }
  bool draining() const { return draining_; }
  int pending_tables() const { return pending_; }
  int warmed_tables() const { return warmed_; }
  int failed_tables() const { return failed_; }

  std::vector<Condition> conditions() const;

 private:
  std::atomic<bool> serving_ = false;
  std::atomic<bool> draining_ = false;
  std::atomic<int> pending_ = 0;
  std::atomic<int> warmed_ = 0;
  std::atomic<int> failed_ = 0;
  std::atomic<bool> deaf_ = false;
  mutable absl::Mutex mutex_;
  std::string deaf_listener_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LIFECYCLE_LIFECYCLE_H_

// Lets a test run out of threads: pthread_create fails for the thread that made the limit, as it does for one
// whose container has no more. Threads of others (gRPC's) are not limited.

#ifndef POSENC_TESTS_UNIT_CLIENT_THREAD_LIMIT_H_
#define POSENC_TESTS_UNIT_CLIENT_THREAD_LIMIT_H_

namespace posenc {

class ThreadLimit {
 public:
  // The calling thread can start so many more threads, until this object goes.
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_CLIENT_THREAD_LIMIT_H_

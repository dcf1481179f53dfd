// Turns a chain of asynchronous steps, each of which may finish at once, into a loop instead of a recursion.
//
// Threads: one chain at a time; its steps may finish on any thread.

#ifndef POSENC_SERVER_TABLES_JOBS_TRAMPOLINE_H_
#define POSENC_SERVER_TABLES_JOBS_TRAMPOLINE_H_

#include <atomic>

namespace posenc {

class Trampoline {
 public:
  // Calls `step` again and again. Each call starts something whose end calls Next; when that has happened
  // before the step returns, the loop goes on here, else in Next, on whatever thread that is.
  template <typename Step>
  void Loop(Step step) {
    do {
      passed_ = false;
      step();
    } while (passed_.exchange(true));
  }

  // The end of a step: loops on, unless the loop is still running below us.
  template <typename Step>
  void Next(Step step) {
    if (passed_.exchange(true)) Loop(step);
  }

 private:
  std::atomic<bool> passed_{false};  // by the first of the two: the step's end, or its return
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_JOBS_TRAMPOLINE_H_

// Calls that wait: without the GIL, and so that Ctrl-C ends them.
//
// Python runs its signal handlers on the main thread alone, and only there is a call handed to a thread of
// its own, while the main one looks for signals. A stop ends a call to a service at once; what is computed
// in this process is finished before the interruption is raised.

#ifndef POSENC_CLIENT_PYTHON_BINDING_WAITING_H_
#define POSENC_CLIENT_PYTHON_BINDING_WAITING_H_

#include <unistd.h>

#include <chrono>
#include <future>
#include <stop_token>
#include <thread>
#include <utility>

#include "pybind11/pybind11.h"

namespace posenc::python {

inline constexpr std::chrono::milliseconds kSignalsEvery{50};

// Returns call(stop). `call` must not touch Python objects. Raises what a signal handler raises.
// Requires: the GIL is held.
template <typename Call>
auto Await(Call call) {
  namespace py = pybind11;
  if (gettid() != getpid()) {
    py::gil_scoped_release released;
    return call(std::stop_token());
  }
  std::stop_source stop;
  std::packaged_task task([&] { return call(stop.get_token()); });
  auto answer = task.get_future();
  std::jthread caller;
  bool interrupted = false;
  {
    py::gil_scoped_release released;
    caller = std::jthread(std::ref(task));
    while (!interrupted && answer.wait_for(kSignalsEvery) != std::future_status::ready) {
      py::gil_scoped_acquire acquired;
      interrupted = PyErr_CheckSignals() != 0;
    }
    if (interrupted) stop.request_stop();
    caller.join();
  }
  if (interrupted) throw py::error_already_set();
  return answer.get();
}

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_WAITING_H_

#include "tests/unit/client/thread_limit.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <limits>

namespace {

constexpr int kUnlimited = std::numeric_limits<int>::max();
thread_local int allowed = kUnlimited;

}  // namespace

// The program's own comes before the C library's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (allowed == 0) return EAGAIN;
  if (allowed != kUnlimited) --allowed;
  return create(thread, attributes, run, argument);
}

namespace posenc {

ThreadLimit::ThreadLimit(int threads) { allowed = threads; }
ThreadLimit::~ThreadLimit() { allowed = kUnlimited; }

}  // namespace posenc

// Promises that every build checks, because what comes after a broken one would be worse than an end: memory
// handed out twice, or a budget that bounds nothing.
//
// Threads: any.

#ifndef POSENC_SERVER_CORE_CHECK_H_
#define POSENC_SERVER_CORE_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace posenc {

// Ends the process with the promise on stderr unless it holds. `promise`: what should be true, as a literal.
inline void Check(bool holds, const char* promise) {
  if (holds) [[likely]] return;
  std::fprintf(stderr, "posenc: broken promise: %s\n", promise);
  std::abort();
}

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_CHECK_H_

// The clock of deadlines and timeouts: an absl::Time that no step of the wall clock moves.
//
// SteadyNow is the time at which the program first asked, by the wall clock, plus what has passed since by
// CLOCK_MONOTONIC. While nobody sets the wall clock both say the same; after a step, only differences of
// steady times are still right. So a deadline that came from outside as wall-clock time is translated once,
// when it comes, and every comparison after that is of steady times.
//
// Threads: any. Cost: one clock_gettime without a system call.

#ifndef POSENC_SERVER_TABLES_THREADS_STEADY_CLOCK_H_
#define POSENC_SERVER_TABLES_THREADS_STEADY_CLOCK_H_

#include "absl/time/time.h"

namespace posenc {

absl::Time SteadyNow();

// The steady time that lies as far ahead as `wall_time` does by the wall clock now. Infinite times stay so.
absl::Time ToSteady(absl::Time wall_time);

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_THREADS_STEADY_CLOCK_H_

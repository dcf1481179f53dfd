#include "server/tables/threads/steady_clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace posenc {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

absl::Time SteadyNow() {
  struct Origin {
    Clock::time_point steady = Clock::now();
    absl::Time wall = absl::Now();
  };
  static const Origin origin;
  return origin.wall + absl::FromChrono(Clock::now() - origin.steady);
}

absl::Time ToSteady(absl::Time wall_time) { return SteadyNow() + (wall_time - absl::Now()); }

}  // namespace posenc

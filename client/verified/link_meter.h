// Measures the rate at which a stream's chunks arrive: from the end of the first one, so that neither the
// way there and back nor what the server does first counts.
//
// Threads: LinkMeter one, LinkRate any.

#ifndef POSENC_CLIENT_VERIFIED_LINK_METER_H_
#define POSENC_CLIENT_VERIFIED_LINK_METER_H_

#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>

#include "absl/time/time.h"

namespace posenc {

// Bytes per second; infinite where the clock saw no time pass.
inline double RateOf(uint64_t bytes, absl::Duration time) {
  if (time <= absl::ZeroDuration()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(bytes) / absl::ToDoubleSeconds(time);
}

class LinkMeter {
 public:
  // A chunk has arrived.
  void Add(uint64_t bytes, absl::Time now) {
    if (begin_) bytes_ += bytes;
    if (!begin_) begin_ = now;
    elapsed_ = now - *begin_;
  }

  // Whether enough has arrived: 4 MiB; or 1 MiB, where that took 20 ms.
  bool done() const {
    return bytes_ >= uint64_t{4} << 20 || (bytes_ >= uint64_t{1} << 20 && elapsed_ >= absl::Milliseconds(20));
  }

  double rate() const { return RateOf(bytes_, elapsed_); }

 private:
  std::optional<absl::Time> begin_;
  uint64_t bytes_ = 0;
  absl::Duration elapsed_;
};

// The rate that was measured last.
class LinkRate {
 public:
  struct Measured {
    double bytes_per_second = 0.0;
    absl::Time when;
  };

  void Set(double bytes_per_second, absl::Time now) {
    const std::lock_guard lock(mutex_);
    measured_ = {bytes_per_second, now};
  }

  // Nothing before the first Set.
  std::optional<Measured> Get() const {
    const std::lock_guard lock(mutex_);
    return measured_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Measured> measured_;  // guarded by mutex_
};

}  // namespace posenc

#endif  // POSENC_CLIENT_VERIFIED_LINK_METER_H_

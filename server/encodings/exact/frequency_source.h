// The frequencies of a table as real numbers, at any precision.
//
// Frequency k says how far pair k turns per unit of position. Most are algebraic numbers of radians;
// some families count turns (angles times 2π) or fractions of π, and for those a source gives turns,
// because cos and sin of a rational number of turns may be exactly 0, which radians cannot say.
// Parameters are the doubles given, taken exactly; constants of the formulas are rational; comparisons
// and roundings to whole numbers are decided on far more bits than they need.
//
// Exponents: what a spec can name lies between 2^-(1.2·10^18) and 10^18, in the range of Real.
// Threads: immutable; any method from any thread. Shared by all that computes with it.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_SOURCE_H_
#define POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "server/encodings/exact/real.h"

namespace posenc {

class FrequencySource {
 public:
  using Visit = std::function<void(int64_t k, const Real& value)>;

  virtual ~FrequencySource() = default;

  virtual int64_t count() const = 0;  // k = 0 … count − 1

  // Whether values are turns per position; otherwise they are radians.
  virtual bool in_turns() const = 0;

  // Returns frequency k in its unit. Relative error below 2^-(precision_bits).
  virtual Real At(int64_t k, int64_t precision_bits) const = 0;

  // Calls `visit` with every frequency in order, to the same error in much less time.
  virtual void ForEach(int64_t precision_bits, const Visit& visit) const = 0;
};

using Frequencies = std::shared_ptr<const FrequencySource>;

// A value of a source as radians and as turns; both lose less than 2^-(precision of value − 2).
Real AsRadians(const FrequencySource& source, const Real& value);
Real AsTurns(const FrequencySource& source, const Real& value);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_SOURCE_H_

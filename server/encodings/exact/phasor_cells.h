// Single cells of a sinusoidal or rotary table, correctly rounded: the accurate path behind the
// kernels.
//
// m·cos(p·w_k) and m·sin(p·w_k) from fixed-point turns (turns.h, relative error 2^-115, about 0.1
// µs), and by Ziv's method in MPFR where that leaves two candidates (never seen by chance,
// reachable by specs built for it). Any position within ±2^54 costs the same. Threads: immutable.
// Owns its turns, 48 bytes for each frequency.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_PHASOR_CELLS_H_
#define POSENC_SERVER_ENCODINGS_EXACT_PHASOR_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/element_type.h"
#include "server/encodings/exact/frequency_rule.h"
#include "server/encodings/exact/turns.h"

namespace posenc {

class PhasorCells {
 public:
  // `magnitude` multiplies both parts.
  PhasorCells(FrequencyRule rule, double magnitude, ElementType type);

  int64_t count() const { return rule_.count; }
  double magnitude() const { return magnitude_; }
  ElementType type() const { return type_; }
  const std::vector<double>& frequencies() const { return frequencies_; }  // rounded to double
  size_t footprint_bytes() const;

  const Turns& turns(int64_t k) const { return turns_[k]; }

  // Returns e^{i·p·w_k}, and m times it; never Unknown.
  Phasor UnitAt(int64_t position, int64_t k) const;
  Phasor At(int64_t position, int64_t k) const;

  // The bits of both elements.
  struct Bits {
    uint64_t cos;
    uint64_t sin;
  };
  Bits RoundedAt(int64_t position, int64_t k) const;

  // The same by MPFR alone.
  Bits RoundedByZiv(int64_t position, int64_t k) const;

 private:
  uint64_t Ziv(int64_t position, int64_t k, bool sine) const;
  // e^{i·p·w_k} by MPFR, for angles that turns cannot tell from a multiple of a quarter.
  Phasor FarAt(int64_t position, int64_t k) const;

  FrequencyRule rule_;
  double magnitude_;
  ElementType type_;
  std::vector<Turns> turns_;
  std::vector<double> frequencies_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_PHASOR_CELLS_H_

// Single cells of a sinusoidal or rotary table, correctly rounded: the accurate path behind the
// kernels.
//
// m·cos(p·w_k) and m·sin(p·w_k) from fixed-point turns (turns.h, relative error 2^-115, about 0.1
// µs), and by Ziv's method in MPFR where that leaves two candidates (never seen by chance,
// reachable by specs built for it). Any whole position within ±2^54 costs the same; any other real
// coordinate costs about 1 µs. Threads: immutable. Owns its turns, 56 bytes for each frequency.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_PHASOR_CELLS_H_
#define POSENC_SERVER_ENCODINGS_EXACT_PHASOR_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/element_type.h"
#include "server/encodings/exact/coordinate.h"
#include "server/encodings/exact/frequency_source.h"
#include "server/encodings/exact/magnitude.h"
#include "server/encodings/exact/turns.h"

namespace posenc {

class PhasorCells {
 public:
  // `magnitude` multiplies both parts.
  PhasorCells(Frequencies source, Magnitude magnitude, ElementType type);

  int64_t count() const { return static_cast<int64_t>(turns_.size()); }
  const Magnitude& magnitude() const { return magnitude_; }
  ElementType type() const { return type_; }
  const std::vector<double>& frequencies() const { return frequencies_; }  // rounded to double
  size_t footprint_bytes() const;

  const Turns& turns(int64_t k) const { return turns_[k]; }

  // Returns e^{i·p·w_k}, and m times it; never Unknown.
  Phasor UnitAt(int64_t position, int64_t k) const;
  Phasor At(int64_t position, int64_t k) const;

  // The bits of both elements.
  struct Bits {
    uint64_t cos = 0;
    uint64_t sin = 0;
  };
  Bits RoundedAt(int64_t position, int64_t k) const;

  // The same at real coordinates. `frequencies` come from RealTurns, once for many cells.
  std::vector<Real> RealTurns() const;
  Bits RoundedAt(const Coordinate& coordinate, const std::vector<Real>& frequencies, int64_t k) const;

  // The same by MPFR alone.
  Bits RoundedByZiv(const Coordinate& coordinate, int64_t k) const;

 private:
  // m times a phasor; a 0 is +0.
  Phasor Magnified(const Phasor& unit) const;
  Bits Rounded(const Phasor& unit, const Coordinate& coordinate, int64_t k) const;
  uint64_t Ziv(const Coordinate& coordinate, int64_t k, bool sine) const;
  // e^{i·c·w_k} by MPFR, for angles that turns cannot tell from a multiple of a quarter.
  Phasor FarAt(const Coordinate& coordinate, int64_t k) const;

  Frequencies source_;
  Magnitude magnitude_;
  ElementType type_;
  std::vector<Turns> turns_;
  std::vector<double> frequencies_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_PHASOR_CELLS_H_

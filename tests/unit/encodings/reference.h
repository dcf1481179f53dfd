// A second opinion on every cell: the formulas in MPFR, cell by cell, slowly.
//
// Shares no code with server/encodings: powers by mpfr_pow, sines by mpfr_sin, rounding by
// mpfr_subnormalize, columns by division and remainder.

#ifndef POSENC_TESTS_UNIT_ENCODINGS_REFERENCE_H_
#define POSENC_TESTS_UNIT_ENCODINGS_REFERENCE_H_

#include <mpfr.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/core/specs/spec.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// What frequencies count: radians, or turns and half turns where a table's formula has π in it.
enum class AngleUnit { kRadians = 0, kTurns = 1, kHalfTurns = 2 };

// A number of MPFR's.
struct Number {
  static constexpr mpfr_prec_t kBits = 320;
  Number() { mpfr_init2(value, kBits); }
  ~Number() { mpfr_clear(value); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  mpfr_t value;
};

// The bits of the element nearest to `value`, ties to even.
uint64_t ReferenceRound(ElementType type, mpfr_srcptr value);

class Reference {
 public:
  // Requires: the spec is normalised.
  explicit Reference(const TableSpec& spec);
  ~Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  // The bits of element `index` of tensor `tensor` in the row at `position` (for a bias: row
  // h·max_len + q).
  uint64_t Cell(size_t tensor, int64_t position, int64_t index);

  // The same at any real position, one number for each axis (or one for all).
  uint64_t CellAt(size_t tensor, const std::vector<double>& position, int64_t index);

 private:
  enum class What { kCos, kSin, kAngle, kFrequency, kPeriod, kZero };
  struct Meaning {
    What what;
    int64_t pair;
  };
  Meaning MeaningOf(const SinusoidalSpec& spec, size_t tensor, int64_t index) const;
  Meaning MeaningOf(const RopeSpec& spec, size_t tensor, int64_t index) const;
  void Frequency(const SinusoidalSpec& spec, int64_t k, mpfr_ptr w) const;
  void Frequency(const RopeSpec& spec, int64_t k, mpfr_ptr w) const;
  template <typename Other>
  void Frequency(const Other&, int64_t, mpfr_ptr) const {}
  mpfr_srcptr CachedFrequency(int64_t k);
  uint64_t Round(const Meaning& meaning, mpfr_srcptr coordinate, mpfr_srcptr magnitude,
                 AngleUnit unit);
  uint64_t Bias(const AlibiSpec& spec, int64_t row, int64_t index) const;

  TableSpec spec_;
  std::map<int64_t, mpfr_ptr> frequencies_;
};

// Element `index` of a row's tensor as bits.
uint64_t ElementAt(const std::vector<std::byte>& data, ElementType type, int64_t index);

// One buffer for each tensor, filled by Generate or GenerateAt.
using Buffers = std::vector<std::vector<std::byte>>;
Buffers GenerateRows(const TableGenerator& generator, int64_t first_row, int64_t row_count);
Buffers GeneratePositions(const TableGenerator& generator, const std::vector<int64_t>& positions);
Buffers GenerateReal(const TableGenerator& generator, const std::vector<double>& coordinates);

// Elements of one row of a tensor, complex ones counted as two, and the real type they are made of.
int64_t RealElements(const TensorShape& tensor);
ElementType RealType(ElementType type);

// The same for rows at real positions, one number for each axis or one for all.
std::string FirstDifferenceAt(const TableSpec& spec, const TableGenerator& generator,
                              const std::vector<std::vector<double>>& positions, const Buffers& buffers);

// Compares every cell of `buffers` with the reference; returns a description of the first
// difference, empty if there is none. `positions[r]` is what Reference::Cell takes for row r.
std::string FirstDifference(const TableSpec& spec, const TableGenerator& generator,
                            const std::vector<int64_t>& positions, const Buffers& buffers);

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_ENCODINGS_REFERENCE_H_

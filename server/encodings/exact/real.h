// A real number of chosen precision: MPFR's mpfr_t, owned.
//
// Precision is in bits; every function rounds to nearest.
// Exponents: MPFR keeps a range for each thread, by default up to 2^±2^30, which formulas leave. A thread that
//            makes a Real has the whole range, 2^±(2^62 - 1). What a formula takes beyond it becomes ±inf or
//            ±0, as MPFR defines; both stand for a real number there, and round as that number would
//            (RoundedToOdd, RoundByZiv): to infinity and to 0 in every element type.
// Threads:   a value, not shared; constants may be read by all.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_REAL_H_
#define POSENC_SERVER_ENCODINGS_EXACT_REAL_H_

#include <mpfr.h>

#include <cstdint>

namespace posenc {

class Real {
 public:
  explicit Real(int64_t precision_bits, double value = 0.0) {
    WidenExponents();
    mpfr_init2(value_, precision_bits);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  ~Real() { mpfr_clear(value_); }
  Real(const Real& other) {
    WidenExponents();  // the other may come from another thread
    mpfr_init2(value_, mpfr_get_prec(other.value_));
    mpfr_set(value_, other.value_, MPFR_RNDN);
  }
  Real& operator=(const Real& other) {
    if (this == &other) return *this;
    mpfr_set_prec(value_, mpfr_get_prec(other.value_));
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }

  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }
  int64_t precision_bits() const { return mpfr_get_prec(value_); }

 private:
  static void WidenExponents() {
    static thread_local const bool done =
        mpfr_set_emin(mpfr_get_emin_min()) == 0 && mpfr_set_emax(mpfr_get_emax_max()) == 0;
    (void)done;
  }

  mpfr_t value_;
};

// Returns 2*pi.
inline Real TwoPi(int64_t precision_bits) {
  Real result(precision_bits);
  mpfr_const_pi(result.get(), MPFR_RNDN);
  mpfr_mul_2ui(result.get(), result.get(), 1, MPFR_RNDN);
  return result;
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_REAL_H_

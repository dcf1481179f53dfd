// Distances between our floats and those that real float32 code returned.

#ifndef POSENC_TESTS_GOLDEN_GOLDEN_FLOAT32_H_
#define POSENC_TESTS_GOLDEN_GOLDEN_FLOAT32_H_

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>

namespace posenc {

// How many floats apart two floats are; 0 and −0 are one.
inline int64_t FloatDistance(double a, double b) {
  const auto order = [](double value) {
    const auto bits = std::bit_cast<int32_t>(static_cast<float>(value));
    return bits >= 0 ? int64_t{bits} : int64_t{INT32_MIN} - bits;
  };
  return std::llabs(order(a) - order(b));
}

// How often each distance occurred; printed when it goes out of scope.
class Agreement {
 public:
  explicit Agreement(std::string what) : what_(std::move(what)) {}
  ~Agreement() { std::cout << *this << "\n"; }
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  void Add(int64_t distance) { Add({{distance, 1}}); }
  void Add(const std::map<int64_t, int>& counts) {
    for (const auto& [distance, count] : counts) counts_[distance] += count, total_ += count;
  }

  int total() const { return total_; }
  int64_t worst() const { return counts_.empty() ? 0 : counts_.rbegin()->first; }
  // The share of distances up to `limit`.
  double Share(int64_t limit) const {
    int within = 0;
    for (const auto& [distance, count] : counts_) within += distance <= limit ? count : 0;
    return total_ == 0 ? 0 : static_cast<double>(within) / total_;
  }

  friend std::ostream& operator<<(std::ostream& out, const Agreement& agreement) {
    out << agreement.what_ << ": " << agreement.total_ << " numbers, equal " << 100 * agreement.Share(0)
        << " %, within 1 ulp " << 100 * agreement.Share(1) << " %, within 2 ulp " << 100 * agreement.Share(2)
        << " %, at most " << agreement.worst();
    return out;
  }

 private:
  std::string what_;
  std::map<int64_t, int> counts_;
  int total_ = 0;
};

}  // namespace posenc

#endif  // POSENC_TESTS_GOLDEN_GOLDEN_FLOAT32_H_

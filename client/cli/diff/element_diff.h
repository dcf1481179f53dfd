// How far the elements of two tensors are apart, and a tally of it: what `posenc diff` counts.
//
// The distance is in units in the last place (ulps): how many numbers of the type lie between, one end
// included, so that neighbours are 1 apart. Of two types, it is in the units of the coarser one, rounded up.
// Both zeros are the same number; a NaN is at no distance from another NaN and at an unmeasurable one from
// anything else, as an infinity is from what is finite.
//
// Threads: one.

#ifndef POSENC_CLIENT_CLI_DIFF_ELEMENT_DIFF_H_
#define POSENC_CLIENT_CLI_DIFF_ELEMENT_DIFF_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "server/core/element_type.h"

namespace posenc::cli {

inline constexpr uint64_t kUnmeasurable = UINT64_MAX;

// One real element: its type and its bytes.
struct ElementRef {
  ElementType type = ElementType::kF32;
  const std::byte* data = nullptr;
};

uint64_t UlpsBetween(ElementRef a, ElementRef b);

// Bounds of the tally's bins, both included: 0, 1, 2, 3 to 10, …; the last one is kUnmeasurable alone.
struct UlpBin {
  uint64_t from = 0;
  uint64_t to = 0;
};
inline constexpr std::array<UlpBin, 8> kUlpBins = {{{0, 0},
                                                    {1, 1},
                                                    {2, 2},
                                                    {3, 10},
                                                    {11, 100},
                                                    {101, 1000},
                                                    {1001, kUnmeasurable - 1},
                                                    {kUnmeasurable, kUnmeasurable}}};

// Where two tensors differ.
struct CellDiff {
  size_t tensor = 0;
  int64_t row = 0;
  int64_t column = 0;
  uint64_t ulps = 0;
  double a = 0;
  double b = 0;
  std::string a_text = {};
  std::string b_text = {};
};

struct DiffTally {
  int64_t cells = 0;
  std::array<int64_t, kUlpBins.size()> bins{};
  std::optional<CellDiff> first = {};
  std::optional<CellDiff> worst = {};  // by ulps
  double largest_difference = 0;       // of finite numbers

  int64_t different() const { return cells - bins[0]; }

  // Counts one cell; `place` says where it is.
  void Count(const CellDiff& place, ElementRef a, ElementRef b);
};

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_DIFF_ELEMENT_DIFF_H_

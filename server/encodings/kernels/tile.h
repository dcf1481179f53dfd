// The vector kernels of sinusoidal and rotary tables, without a sign of SIMD in it.
//
// A tile is up to 2R + 1 consecutive rows of some columns. With the anchor A = m·e^{i·p·w} of its middle
// row and the table's own phasors P_r = e^{i·r·w}, r ≤ R, the rows r behind the middle and r before it
// are A · P_r and its mirror image A · conj(P_r): four real products for both. Advance moves the anchors to
// the next tile by A ← A · e^{i·(2R + 1)·w}.
//
// F32, F16: products in double. BF16: in float, and in double where that does not decide. F64: products in
// double-double. A value is decided where both ends of its error interval round to the same element; other pairs
// are reported as undecided and the caller redoes them exactly. The bytes are therefore the same on every target;
// only the list of undecided pairs differs. tile-inl.h and single-inl.h derive the error bounds.
//
// Threads: pure functions of their arguments. Alignment: none needed.

#ifndef POSENC_SERVER_ENCODINGS_KERNELS_TILE_H_
#define POSENC_SERVER_ENCODINGS_KERNELS_TILE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "server/core/element_type.h"

namespace posenc {

inline constexpr int kMaxReach = 16;  // R
inline constexpr int kMaxTileRows = 2 * kMaxReach + 1;
// Pairs that one call works on, so that their phasors stay near; a multiple of every vector length.
inline constexpr int64_t kChunkPairs = 256;
// Phasor arrays are padded to a multiple of this, with zeros.
inline constexpr int64_t kPairPadding = 16;
// How often anchors may be advanced before they must be set anew: the error analysis counts on it.
inline constexpr int64_t kTilesPerAnchor = 256;

// kColumns: cosines in a run, sines in a run. kRepeated: the same, each value twice. kPairs: cosine
// and sine next to each other.
enum class StoreForm : uint8_t { kColumns, kRepeated, kPairs };

// Unevaluated sums high + low, one for each pair.
struct PhasorArrays {
  const double* cos_high;
  const double* sin_high;
  const double* cos_low;
  const double* sin_low;
  const float* cos_single = nullptr;  // the high halves as floats, for BF16
  const float* sin_single = nullptr;
};

// Anchors of one chunk, and a bound of the absolute error that their sines brought along or have
// gathered since they were set.
struct alignas(64) Anchors {
  std::array<double, kChunkPairs> cos_high, sin_high, cos_low, sin_low, drift;
};

// An angle as a step of the circle and what remains, |rest| ≤ 1/512 turn, for each pair of a chunk.
inline constexpr int kCircleSteps = 256;
struct alignas(64) ReducedAngles {
  std::array<double, kChunkPairs> rest_high, rest_low;                   // radians
  std::array<double, kChunkPairs> cos_high, sin_high, cos_low, sin_low;  // of the step
};

struct TileArgs {
  PhasorArrays phasors;               // at the chunk's first pair, r = 0
  int64_t phasor_stride = 0;          // doubles from one row of phasors to the next
  const double* sin_bound = nullptr;  // max over r ≤ R of |sin(r·w)|, for each pair
  const Anchors* anchors = nullptr;
  double magnitude = 1.0;
  int rows = 0;
  int centre = 0;       // the anchors' row, R; it may be none of the rows
  int64_t pairs = 0;    // of this chunk
  int64_t cosines = 0;  // pairs k < cosines have a cosine, k < sines a sine
  int64_t sines = 0;

  StoreForm form = StoreForm::kColumns;
  int copies = 1;
  bool sine_first = false;  // kPairs
  int64_t row_bytes = 0;    // from one row to the next in every tensor
  std::array<std::byte*, 2> cos{},
      sin{};  // of pair 0 of the chunk, row 0; kPairs: the pair's first

  // Room for rows · pairs entries: row << 16 | pair, one for each pair not decided.
  uint32_t* undecided = nullptr;
};

// Writes the tile; returns the number of undecided entries.
size_t WriteTile(ElementType type, const TileArgs& args);

// A factor as an unevaluated sum.
struct Factor {
  double high = 1.0;
  double low = 0.0;
};

// Sets anchors from reduced angles, for F32, F16 and BF16: to 2^-57 of each part.
void SetAnchors(const ReducedAngles& angles, Factor magnitude, int64_t pairs, Anchors& anchors);

// Moves the anchors of `pairs` pairs on by `step`; the drift grows by the error of the product.
void AdvanceAnchors(ElementType type, const PhasorArrays& step, const double* sin_bound,
                    double magnitude, int64_t pairs, Anchors& anchors);

// Writes the powers 1 … reach of `first` into rows 1 … of `out`, in double-double, and power 2 · reach + 1
// into the row after them. The high halves of a row are `stride` doubles from the last row's, the low halves
// `low_stride`. Row 0 is the caller's.
struct PhasorRows {
  double* cos_high;
  double* sin_high;
  double* cos_low;
  double* sin_low;
};
void FillPowers(const PhasorArrays& first, int64_t pairs, int reach, int64_t stride,
                int64_t low_stride, const PhasorRows& out);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_KERNELS_TILE_H_

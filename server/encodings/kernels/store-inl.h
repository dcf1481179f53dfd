// Where the kernels of tile-inl.h put whole vectors of cells.

#if defined(POSENC_KERNELS_STORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_STORE_INL_H_
#undef POSENC_KERNELS_STORE_INL_H_
#else
#define POSENC_KERNELS_STORE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "server/encodings/kernels/rounding-inl.h"
#include "server/encodings/kernels/single-inl.h"
#include "server/encodings/kernels/tile.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

// The places of one row, as elements.
template <class Rounding>
struct Row {
  using T = hn::TFromD<typename Rounding::DOut>;
  HWY_INLINE Row(const TileArgs& args, int row) {
    for (int copy = 0; copy < 2; ++copy) {
      cos[copy] = reinterpret_cast<T*>(args.cos[copy] + row * args.row_bytes);
      sin[copy] = reinterpret_cast<T*>(args.sin[copy] + row * args.row_bytes);
    }
  }
  T* cos[2];
  T* sin[2];
};

// Asks for a line that will be written some rows later. Where cosines and sines are runs of their own, the
// CPU does not see them coming: tables of 64 MiB gain a tenth (split-half) to a third (cos-sin). Other forms
// gain nothing, and lose where the memory is in the caches.
constexpr int64_t kLineBytes = 64, kAheadBytes = 2048;
template <class T>
HWY_INLINE void FetchAhead(const T* row, int64_t element) {
  if (element * static_cast<int64_t>(sizeof(T)) % kLineBytes != 0) return;
  __builtin_prefetch(reinterpret_cast<const std::byte*>(row + element) + kAheadBytes, 1);
}

// Stores whole vectors of cells at element k (kColumns) or 2k (the others) from the row's places.
template <class Rounding, StoreForm kForm, int kCopies, class Elements>
HWY_INLINE void StoreCells(const Row<Rounding>& row, Elements cos, Elements sin, bool sine_first, int64_t k) {
  using DOut = typename Rounding::DOut;
  if constexpr (kForm == StoreForm::kRepeated) {
    hn::StoreInterleaved2(cos, cos, DOut(), row.cos[0] + 2 * k);
    hn::StoreInterleaved2(sin, sin, DOut(), row.sin[0] + 2 * k);
    return;
  }
  for (int copy = 0; copy < kCopies; ++copy) {
    if constexpr (kForm == StoreForm::kColumns) {
      hn::StoreU(cos, DOut(), row.cos[copy] + k);
      hn::StoreU(sin, DOut(), row.sin[copy] + k);
      FetchAhead(row.cos[copy], k);
      FetchAhead(row.sin[copy], k);
    } else if (sine_first) {
      hn::StoreInterleaved2(sin, cos, DOut(), row.sin[copy] + 2 * k);
    } else {
      hn::StoreInterleaved2(cos, sin, DOut(), row.cos[copy] + 2 * k);
    }
  }
}

// The same from the words of single-inl.h.
template <StoreForm kForm, int kCopies>
HWY_INLINE void StoreEnds(const Row<RoundBF16>& row, const SingleCells& cells, bool sine_first, int64_t k) {
#if HWY_TARGET == HWY_SCALAR
  const auto element = [](hn::Vec<DUint> word) {
    return hn::DemoteTo(RoundBF16::DOut(), hn::BitCast(DInt(), hn::ShiftRight<16>(word)));
  };
  StoreCells<RoundBF16, kForm, kCopies>(row, element(cells.cos), element(cells.sin), sine_first, k);
#else
  const hn::Repartition<uint16_t, DUint> d;
  const hn::Half<decltype(d)> half;
  const auto cos = hn::BitCast(d, cells.cos), sin = hn::BitCast(d, cells.sin);
  const auto store = [&](hn::Vec<DUint> low, hn::Vec<decltype(d)> high, uint16_t* to) {
    hn::StoreU(hn::OddEven(high, hn::BitCast(d, hn::ShiftRight<16>(low))), d, to + 2 * k);
  };
  if constexpr (kForm == StoreForm::kRepeated) {
    store(cells.cos, cos, row.cos[0]);
    store(cells.sin, sin, row.sin[0]);
    return;
  }
  for (int copy = 0; copy < kCopies; ++copy) {
    if constexpr (kForm == StoreForm::kColumns) {
      const auto both = hn::ConcatOdd(d, sin, cos);
      hn::StoreU(hn::LowerHalf(both), half, row.cos[copy] + k);
      hn::StoreU(hn::UpperHalf(half, both), half, row.sin[copy] + k);
    } else if (sine_first) {
      store(cells.sin, cos, row.sin[copy]);
    } else {
      store(cells.cos, sin, row.cos[copy]);
    }
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target

// The kernels of tile.h for one target.
//
// Error of a value, u = 2^-53, anchor A = m(C + iS), phasor c + is (so |Cc| + |Ss| ≤ 1):
//  * Double-doubles. A phasor of row r ≤ 16 comes from r products of relative error 2^-100 in terms of the
//    size of its own part, so |δc| ≤ 2^-95 and |δs| ≤ 2^-95 · σ, σ = max over the rows of |sin(r·w)|. An
//    anchor is advanced at most 255 times, each time by a phasor as good: |δC| ≤ 2^-86 · m, and one step
//    adds to δS at most 2^-86 · m·|s| + 2^-94 (m·|s| + |S|), |s| ≤ 2σ. So the step adds less than
//    kPhasorError · (m·σ + |S|), kPhasorError = 2^-84; this sum is Anchors::drift (below 2^-75 · m).
//  * F64 values. One more product, 2^-100, and the phasor's errors: the error of a sine is below
//    kPhasorError · (m·σ + |S|) + drift, that of a cosine below 2^-74 · m.
//  * The others are one product of high halves in double: each term Cs, Sc has at most four roundings (two
//    of the halves, product, sum), with or without FMA. Below 4.03 u · (m·σ + |S|), and 4.03 u · m for a
//    cosine, plus the above. A bound in terms of σ and |S| keeps the small sines of slow frequencies apart
//    from 0.

#if defined(POSENC_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_TILE_INL_H_
#undef POSENC_KERNELS_TILE_INL_H_
#else
#define POSENC_KERNELS_TILE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "hwy/highway.h"
#include "server/encodings/kernels/double_double-inl.h"
#include "server/encodings/kernels/kernel_table.h"
#include "server/encodings/kernels/rounding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

constexpr double kPhasorError = 0x1p-84;
constexpr double kWideCosError = 0x1p-74;
constexpr double kProductError = 0x1.04p-51;
// F16 and BF16 pass through float, whose subnormals round by up to 2^-150.
constexpr double kFloatStep = 0x1p-149;

using SineErrors = std::array<double, kChunkPairs>;

HWY_INLINE V LoadD(const double* from) { return hn::LoadU(D(), from); }

template <class Rounding>
HWY_INLINE double CosineError(double magnitude) {
  const double wide = kWideCosError * magnitude;
  if (Rounding::kWide) return wide;
  return kProductError * magnitude + wide + (sizeof(hn::TFromD<typename Rounding::DOut>) == 2 ? kFloatStep : 0);
}

template <class Rounding>
HWY_INLINE void FillSineErrors(const TileArgs& args, SineErrors& errors) {
  const D d;
  const V relative = hn::Set(d, Rounding::kWide ? kPhasorError : kProductError + kPhasorError);
  const V magnitude = hn::Set(d, args.magnitude);
  const bool narrow = sizeof(hn::TFromD<typename Rounding::DOut>) == 2;
  const V least = hn::Set(d, narrow ? kFloatStep : 0.0);
  for (int64_t k = 0; k < args.pairs; k += hn::Lanes(d)) {
    const V size = hn::MulAdd(magnitude, LoadD(args.sin_bound + k), hn::Abs(LoadD(&args.anchors->sin_high[k])));
    const V error = hn::MulAdd(size, relative, LoadD(&args.anchors->drift[k]));
    // A frequency of 0 has exact values and keeps its error of 0.
    const V floor = hn::IfThenElseZero(hn::Gt(error, hn::Zero(d)), least);
    hn::StoreU(hn::Add(error, floor), d, &errors[k]);
  }
}

template <class Rounding>
struct Cells {
  hn::Vec<typename Rounding::DOut> cos;
  hn::Vec<typename Rounding::DOut> sin;
  typename Rounding::Difference difference;
};

// The cells of pairs k … of row `row`, rounded.
template <class Rounding>
HWY_INLINE Cells<Rounding> ComputeCells(const TileArgs& args, V cos_error, const SineErrors& sine_errors,
                                        int row, int64_t k) {
  const int64_t at = row * args.phasor_stride + k;
  const V sin_error = LoadD(&sine_errors[k]);
  Cells<Rounding> cells;
  cells.difference = hn::Zero(hn::DFromV<typename Rounding::Difference>());
  if constexpr (Rounding::kWide) {
    const Complex value = Multiply(LoadComplex(*args.anchors, k), LoadComplex(args.phasors, at));
    cells.cos = Rounding::Round(value.cos, cos_error, cells.difference);
    cells.sin = Rounding::Round(value.sin, sin_error, cells.difference);
  } else {
    const V a = LoadD(&args.anchors->cos_high[k]), b = LoadD(&args.anchors->sin_high[k]);
    const V c = LoadD(args.phasors.cos_high + at), s = LoadD(args.phasors.sin_high + at);
    cells.cos = Rounding::Round(hn::NegMulAdd(b, s, hn::Mul(a, c)), cos_error, cells.difference);
    cells.sin = Rounding::Round(hn::MulAdd(a, s, hn::Mul(b, c)), sin_error, cells.difference);
  }
  return cells;
}

// Stores whole vectors of cells at element k (kColumns) or 2k (the others) from the row's places.
template <class Rounding, StoreForm kForm>
HWY_INLINE void StoreCells(const TileArgs& args, const Cells<Rounding>& cells, int row, int64_t k) {
  using T = hn::TFromD<typename Rounding::DOut>;
  const typename Rounding::DOut d;
  const int64_t offset = row * args.row_bytes;
  const auto at = [&](std::byte* base, int64_t element) {
    return reinterpret_cast<T*>(base + offset) + element;
  };
  if constexpr (kForm == StoreForm::kRepeated) {
    hn::StoreInterleaved2(cells.cos, cells.cos, d, at(args.cos[0], 2 * k));
    hn::StoreInterleaved2(cells.sin, cells.sin, d, at(args.sin[0], 2 * k));
    return;
  }
  for (int copy = 0; copy < args.copies; ++copy) {
    if constexpr (kForm == StoreForm::kColumns) {
      hn::StoreU(cells.cos, d, at(args.cos[copy], k));
      hn::StoreU(cells.sin, d, at(args.sin[copy], k));
    } else if (args.sine_first) {
      hn::StoreInterleaved2(cells.sin, cells.cos, d, at(args.sin[copy], 2 * k));
    } else {
      hn::StoreInterleaved2(cells.cos, cells.sin, d, at(args.cos[copy], 2 * k));
    }
  }
}

// Stores the cells that exist among those of the last, incomplete vector, one by one.
template <class Rounding>
HWY_NOINLINE void StoreTail(const TileArgs& args, const Cells<Rounding>& cells, int row, int64_t first) {
  using T = hn::TFromD<typename Rounding::DOut>;
  constexpr int64_t kLanes = kPairPadding;
  const typename Rounding::DOut d;
  T cos[kLanes] = {}, sin[kLanes] = {};
  hn::StoreU(cells.cos, d, cos);
  hn::StoreU(cells.sin, d, sin);
  const int64_t step = args.form == StoreForm::kColumns ? 1 : 2;
  const int64_t end = std::min<int64_t>(first + hn::Lanes(d), args.pairs);
  for (int64_t k = first; k < end; ++k) {
    const int64_t offset = row * args.row_bytes + k * step * static_cast<int64_t>(sizeof(T));
    for (int copy = 0; copy < args.copies; ++copy) {
      if (k < args.cosines) std::memcpy(args.cos[copy] + offset, &cos[k - first], sizeof(T));
      if (k < args.sines) std::memcpy(args.sin[copy] + offset, &sin[k - first], sizeof(T));
    }
  }
}

// Appends the undecided pairs of one vector.
template <class Rounding>
HWY_NOINLINE size_t Report(const TileArgs& args, const Cells<Rounding>& cells, int row, int64_t first,
                           size_t count) {
  using DDifference = hn::DFromV<typename Rounding::Difference>;
  constexpr int64_t kLanes = kPairPadding;
  hn::TFromD<DDifference> lanes[kLanes] = {};
  hn::StoreU(cells.difference, DDifference(), lanes);
  const int64_t end = std::min<int64_t>(first + hn::Lanes(DDifference()), args.pairs);
  for (int64_t k = first; k < end; ++k) {
    if (lanes[k - first] != 0) args.undecided[count++] = static_cast<uint32_t>(row << 16 | k);
  }
  return count;
}

template <class Rounding, StoreForm kForm>
size_t WriteRows(const TileArgs& args) {
  using DDifference = hn::DFromV<typename Rounding::Difference>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const int64_t whole = std::min(args.cosines, args.sines) / lanes * lanes;
  const V cos_error = hn::Set(D(), CosineError<Rounding>(args.magnitude));
  SineErrors sine_errors;
  FillSineErrors<Rounding>(args, sine_errors);
  size_t count = 0;
  for (int row = 0; row < args.rows; ++row) {
    for (int64_t k = 0; k < args.pairs; k += lanes) {
      const auto cells = ComputeCells<Rounding>(args, cos_error, sine_errors, row, k);
      if (k < whole) {
        StoreCells<Rounding, kForm>(args, cells, row, k);
      } else {
        StoreTail<Rounding>(args, cells, row, k);
      }
      const auto undecided = hn::Ne(cells.difference, hn::Zero(DDifference()));
      if (HWY_UNLIKELY(!hn::AllFalse(DDifference(), undecided))) {
        count = Report<Rounding>(args, cells, row, k, count);
      }
    }
  }
  return count;
}

template <class Rounding>
size_t WriteForm(const TileArgs& args) {
  switch (args.form) {
    case StoreForm::kColumns: return WriteRows<Rounding, StoreForm::kColumns>(args);
    case StoreForm::kRepeated: return WriteRows<Rounding, StoreForm::kRepeated>(args);
    default: return WriteRows<Rounding, StoreForm::kPairs>(args);
  }
}

static size_t WriteTileOn(ElementType type, const TileArgs& args) {
  switch (type) {
    case ElementType::kF64: return WriteForm<RoundF64>(args);
    case ElementType::kF16: return WriteForm<RoundF16>(args);
    case ElementType::kBF16: return WriteForm<RoundBF16>(args);
    default: return WriteForm<RoundF32>(args);
  }
}

static void AdvanceAnchorsOn(const PhasorArrays& step, const double* sin_bound, double magnitude, int64_t pairs,
                      Anchors& anchors) {
  const D d;
  const V m = hn::Set(d, magnitude), error = hn::Set(d, kPhasorError);
  for (int64_t k = 0; k < pairs; k += hn::Lanes(d)) {
    const Complex anchor = LoadComplex(anchors, k);
    const V size = hn::MulAdd(m, LoadD(sin_bound + k), hn::Abs(anchor.sin.high));
    hn::StoreU(hn::MulAdd(size, error, LoadD(&anchors.drift[k])), d, &anchors.drift[k]);
    StoreComplex(Normalize(Multiply(anchor, LoadComplex(step, k))), anchors, k);
  }
}

static void FillPowersOn(const PhasorArrays& first, int64_t pairs, int rows, int64_t stride,
                  const PhasorRows& out) {
  for (int64_t k = 0; k < pairs; k += hn::Lanes(D())) {
    const Complex base = LoadComplex(first, k);
    Complex power = base;
    for (int row = 1; row < rows; ++row) {
      StoreComplex(power, out, row * stride + k);
      power = Normalize(Multiply(power, base));
    }
  }
}

static KernelTable GetKernelTable() { return {&WriteTileOn, &AdvanceAnchorsOn, &FillPowersOn}; }

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target

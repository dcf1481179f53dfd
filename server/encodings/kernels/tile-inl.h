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
// F16 and BF16 pass through float, whose subnormals round by up to 2^-150; their errors are kept as floats,
// rounded up.
constexpr double kFloatStep = 0x1p-149;
constexpr double kRoundedUp = 1 + 0x1p-20;

// Error bounds of one chunk, in the type that the rounding wants.
template <class Rounding>
struct Errors {
  alignas(64) typename Rounding::Error sin[kChunkPairs];
  alignas(64) typename Rounding::Error cos[kPairPadding];  // the same in every lane
};

HWY_INLINE V LoadD(const double* from) { return hn::LoadU(D(), from); }

HWY_INLINE void StoreError(V error, double* to) { hn::StoreU(error, D(), to); }
HWY_INLINE void StoreError(V error, float* to) {
  // A frequency of 0 has exact values and keeps its error of 0.
  const V step = hn::IfThenElseZero(hn::Gt(error, hn::Zero(D())), hn::Set(D(), kFloatStep));
  const hn::Rebind<float, D> narrow;
  const V up = hn::MulAdd(error, hn::Set(D(), kRoundedUp), step);
  hn::StoreU(hn::DemoteTo(narrow, up), narrow, to);
}

template <class Rounding>
HWY_INLINE void FillErrors(const TileArgs& args, Errors<Rounding>& errors) {
  const D d;
  const double product = Rounding::kWide ? 0.0 : kProductError;
  const V relative = hn::Set(d, product + kPhasorError), magnitude = hn::Set(d, args.magnitude);
  for (int64_t k = 0; k < args.pairs; k += hn::Lanes(d)) {
    const V sine = hn::Abs(LoadD(&args.anchors->sin_high[k]));
    const V size = hn::MulAdd(magnitude, LoadD(args.sin_bound + k), sine);
    StoreError(hn::MulAdd(size, relative, LoadD(&args.anchors->drift[k])), &errors.sin[k]);
  }
  const V cosine = hn::Set(d, (product + kWideCosError) * args.magnitude);
  for (int64_t k = 0; k < kPairPadding; k += hn::Lanes(d)) StoreError(cosine, &errors.cos[k]);
}

// Cells of one step along a row: a vector of elements each.
template <class Rounding>
struct Cells {
  hn::Vec<typename Rounding::DOut> cos;
  hn::Vec<typename Rounding::DOut> sin;
  hn::Vec<typename Rounding::DDifference> difference;
};

// The cells of pairs k … of one row, whose phasors are at `at`, rounded.
template <class Rounding>
HWY_INLINE Cells<Rounding> ComputeCells(const Anchors& anchors, const PhasorArrays& phasors,
                                        const Errors<Rounding>& errors, int64_t k, int64_t at) {
  Cells<Rounding> cells;
  cells.difference = hn::Zero(typename Rounding::DDifference());
  if constexpr (Rounding::kWide) {
    const Complex value = Multiply(LoadComplex(anchors, k), LoadComplex(phasors, at));
    cells.cos = Rounding::Round(value.cos, errors.cos, cells.difference);
    cells.sin = Rounding::Round(value.sin, errors.sin + k, cells.difference);
  } else {
    V cos[kParts], sin[kParts];
    for (int i = 0; i < kParts; ++i) {
      const int64_t j = i * static_cast<int64_t>(hn::Lanes(D()));
      const V a = LoadD(&anchors.cos_high[k + j]), b = LoadD(&anchors.sin_high[k + j]);
      const V c = LoadD(phasors.cos_high + at + j), s = LoadD(phasors.sin_high + at + j);
      cos[i] = hn::NegMulAdd(b, s, hn::Mul(a, c));
      sin[i] = hn::MulAdd(a, s, hn::Mul(b, c));
    }
    cells.cos = Rounding::Round(cos, errors.cos, cells.difference);
    cells.sin = Rounding::Round(sin, errors.sin + k, cells.difference);
  }
  return cells;
}

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

template <class DOut>
HWY_INLINE void StoreColumn(hn::Vec<DOut> value, bool stream, hn::TFromD<DOut>* to) {
  if (stream) {
    hn::Stream(value, DOut(), to);
  } else {
    hn::StoreU(value, DOut(), to);
  }
}

// Stores whole vectors of cells at element k (kColumns) or 2k (the others) from the row's places.
template <class Rounding, StoreForm kForm, int kCopies>
HWY_INLINE void StoreCells(const Row<Rounding>& row, const Cells<Rounding>& cells, bool sine_first,
                           bool stream, int64_t k) {
  using DOut = typename Rounding::DOut;
  if constexpr (kForm == StoreForm::kRepeated) {
    hn::StoreInterleaved2(cells.cos, cells.cos, DOut(), row.cos[0] + 2 * k);
    hn::StoreInterleaved2(cells.sin, cells.sin, DOut(), row.sin[0] + 2 * k);
    return;
  }
  for (int copy = 0; copy < kCopies; ++copy) {
    if constexpr (kForm == StoreForm::kColumns) {
      StoreColumn<DOut>(cells.cos, stream, row.cos[copy] + k);
      StoreColumn<DOut>(cells.sin, stream, row.sin[copy] + k);
    } else if (sine_first) {
      hn::StoreInterleaved2(cells.sin, cells.cos, DOut(), row.sin[copy] + 2 * k);
    } else {
      hn::StoreInterleaved2(cells.cos, cells.sin, DOut(), row.cos[copy] + 2 * k);
    }
  }
}

// Stores the cells that exist among those of the last, incomplete vector, one by one.
template <class Rounding>
HWY_NOINLINE void StoreTail(const TileArgs& args, const Cells<Rounding>& cells, int row, int64_t first) {
  const typename Rounding::DOut d;
  const Row<Rounding> places(args, row);
  hn::TFromD<decltype(d)> cos[kPairPadding] = {}, sin[kPairPadding] = {};
  hn::StoreU(cells.cos, d, cos);
  hn::StoreU(cells.sin, d, sin);
  const int64_t step = args.form == StoreForm::kColumns ? 1 : 2;
  const int64_t end = std::min<int64_t>(first + hn::Lanes(d), args.pairs);
  for (int64_t k = first; k < end; ++k) {
    for (int copy = 0; copy < args.copies; ++copy) {
      if (k < args.cosines) std::memcpy(places.cos[copy] + k * step, &cos[k - first], sizeof(cos[0]));
      if (k < args.sines) std::memcpy(places.sin[copy] + k * step, &sin[k - first], sizeof(sin[0]));
    }
  }
}

// Appends the undecided pairs of one vector.
template <class Rounding>
HWY_NOINLINE size_t Report(const TileArgs& args, const Cells<Rounding>& cells, int row, int64_t first,
                           size_t count) {
  const typename Rounding::DDifference d;
  hn::TFromD<decltype(d)> lanes[kPairPadding] = {};
  hn::StoreU(cells.difference, d, lanes);
  const int64_t end = std::min<int64_t>(first + hn::Lanes(d), args.pairs);
  for (int64_t k = first; k < end; ++k) {
    if (lanes[k - first] != 0) args.undecided[count++] = static_cast<uint32_t>(row << 16 | k);
  }
  return count;
}

// Writes one row; returns the new number of undecided entries. Everything that the loop needs is local and
// its address stays here: stores of elements would otherwise make the compiler load it again.
template <class Rounding, StoreForm kForm, int kCopies>
HWY_INLINE size_t WriteRow(const TileArgs& args, const Errors<Rounding>& errors, int row, size_t count) {
  const typename Rounding::DDifference d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(typename Rounding::DOut()));
  const int64_t whole = std::min(args.cosines, args.sines) / lanes * lanes;
  const Row<Rounding> places(args, row);
  const Anchors& anchors = *args.anchors;
  const PhasorArrays phasors = args.phasors;
  const int64_t base = row * args.phasor_stride, pairs = args.pairs;
  const bool sine_first = args.sine_first, stream = args.stream;
  for (int64_t k = 0; k < whole; k += lanes) {
    const auto cells = ComputeCells<Rounding>(anchors, phasors, errors, k, base + k);
    StoreCells<Rounding, kForm, kCopies>(places, cells, sine_first, stream, k);
    if (HWY_LIKELY(hn::AllTrue(d, hn::Eq(cells.difference, hn::Zero(d))))) continue;
    // Computed once more, so that the hot path keeps nothing in memory.
    count = Report<Rounding>(args, ComputeCells<Rounding>(anchors, phasors, errors, k, base + k), row, k, count);
  }
  for (int64_t k = whole; k < pairs; k += lanes) {
    const auto cells = ComputeCells<Rounding>(anchors, phasors, errors, k, base + k);
    StoreTail<Rounding>(args, cells, row, k);
    count = Report<Rounding>(args, cells, row, k, count);
  }
  return count;
}

template <class Rounding, StoreForm kForm, int kCopies>
size_t WriteRows(const TileArgs& args) {
  Errors<Rounding> errors;
  FillErrors<Rounding>(args, errors);
  size_t count = 0;
  for (int row = 0; row < args.rows; ++row) {
    count = WriteRow<Rounding, kForm, kCopies>(args, errors, row, count);
  }
  return count;
}

template <class Rounding>
size_t WriteForm(const TileArgs& args) {
  switch (args.form) {
    case StoreForm::kRepeated: return WriteRows<Rounding, StoreForm::kRepeated, 2>(args);
    case StoreForm::kColumns:
      return args.copies == 1 ? WriteRows<Rounding, StoreForm::kColumns, 1>(args)
                              : WriteRows<Rounding, StoreForm::kColumns, 2>(args);
    default:
      return args.copies == 1 ? WriteRows<Rounding, StoreForm::kPairs, 1>(args)
                              : WriteRows<Rounding, StoreForm::kPairs, 2>(args);
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

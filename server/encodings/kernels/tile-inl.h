// The kernels of tile.h for one target.
//
// Error of a value: u = 2^-53, anchor A = m(C + iS), phasor c + is (so |Cc| + |Ss| ≤ 1), and σ the
// largest |sin(r·w)| of the rows.
//  * Phasors. Row r ≤ 16 comes from r products, each good to 2^-100 of the size of its own part:
//    |δc| ≤ 2^-95, |δs| ≤ 2^-95 · σ. The step to the next tile is as good, and |s| ≤ 2σ there.
//  * Anchors. Multiplying by a phasor turns their error δA and keeps its size. After 255 steps it
//  is
//    what they began with, 2^-103 · m for F64 and 2^-63 · m for the others, and 2^-86 · m more. So
//    much for cosines. A sine's error begins with a share of |S| and takes on |δA| · |s| at every
//    step: less than 2^-84 · (m·σ + |S|) for F64 (kWideError) and 2^-61 · (m·σ + |S|) for the
//    others (kNarrowStepError). Anchors::drift sums it up.
//  * F64 values. One more product, 2^-100, and the phasor's errors: the error of a sine is below
//    2^-84 · (m·σ + |S|) + drift, that of a cosine below 2^-84 · m.
//  * The others are one product of high halves in double. Each of its terms has at most four
//    roundings (two of the halves, product, sum), with or without FMA, and the ends of the interval
//    one more: below 5.03 u · (m·σ + |S|), and 5.03 u · m for a cosine, plus the above.
//    kProductError is 6 u, and the sine's drift comes on top.
// Bounds in terms of σ and |S| keep the small sines of slow frequencies apart from 0.

#if defined(POSENC_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_TILE_INL_H_
#undef POSENC_KERNELS_TILE_INL_H_
#else
#define POSENC_KERNELS_TILE_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "hwy/highway.h"
#include "server/encodings/kernels/cos_sin-inl.h"
#include "server/encodings/kernels/double_double-inl.h"
#include "server/encodings/kernels/kernel_table.h"
#include "server/encodings/kernels/rounding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

constexpr double kWideError = 0x1p-84;
constexpr double kNarrowStepError = 0x1p-61;
constexpr double kAnchorError = 0x1p-57;
constexpr double kProductError = 0x1.8p-51;
// F16 and BF16 pass through float, whose subnormals round by up to 2^-150; their errors are kept as
// floats, rounded up.
constexpr double kFloatStep = 0x1p-149;
constexpr double kRoundedUp = 1 + 0x1p-20;

// Error bounds of one chunk, in the type that the rounding wants.
template <class Rounding>
struct Errors {
  alignas(64) typename Rounding::Error sin[kChunkPairs];
  alignas(64) typename Rounding::Error cos[kPairPadding];  // the same in every lane
  // Where |cos · sin| is at least this, both are large enough for the quick test.
  alignas(64) float product[kChunkPairs];
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

// The quick test wants |v| ≥ 2^40 times v's error and v ≥ kLeastNormal, of the cosine and of the
// sine. As the one is at most m and the other at most `size`, a lower bound of their product gives
// both. 2^-80 keeps the products themselves normal floats; a sine that is exactly 0 needs no test.
template <class Rounding>
HWY_INLINE void StoreLeastProduct(V size, V sine_error, V cosine_error, double magnitude,
                                  float* to) {
  const D d;
  const V m = hn::Set(d, magnitude), places = hn::Set(d, 0x1p40),
          least = hn::Set(d, Rounding::kLeastNormal);
  const V sine = hn::Mul(hn::Max(hn::Mul(sine_error, places), least), m);
  const V cosine = hn::Mul(hn::Max(hn::Mul(cosine_error, places), least), size);
  const V product = hn::Max(hn::Max(sine, cosine), hn::Set(d, 0x1p-80));
  const V used =
      hn::IfThenElseZero(hn::Gt(sine_error, hn::Zero(d)), hn::Mul(product, hn::Set(d, 1.01)));
  const hn::Rebind<float, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, used), narrow, to);
}

template <class Rounding>
HWY_INLINE void FillErrors(const TileArgs& args, Errors<Rounding>& errors) {
  const D d;
  const double product = Rounding::kWide ? 0.0 : kProductError;
  const V relative = hn::Set(d, product + kWideError), magnitude = hn::Set(d, args.magnitude);
  const V cosine_error = hn::Set(d, (product + kWideError) * args.magnitude);
  for (int64_t k = 0; k < kPairPadding; k += hn::Lanes(d)) StoreError(cosine_error, &errors.cos[k]);
  for (int64_t k = 0; k < args.pairs; k += hn::Lanes(d)) {
    const V sine = hn::Abs(LoadD(&args.anchors->sin_high[k]));
    const V size = hn::MulAdd(magnitude, LoadD(args.sin_bound + k), sine);
    const V error = hn::MulAdd(size, relative, LoadD(&args.anchors->drift[k]));
    StoreError(error, &errors.sin[k]);
    if constexpr (!Rounding::kWide) {
      StoreLeastProduct<Rounding>(size, error, cosine_error, args.magnitude, &errors.product[k]);
    }
  }
}

// Cells of one step along a row: a vector of elements each, and whether all of them are decided.
template <class Rounding>
struct Cells {
  hn::Vec<typename Rounding::DOut> cos;
  hn::Vec<typename Rounding::DOut> sin;
  bool decided;
};

// Products in double of the pairs k … of one row, whose phasors are at `at`.
struct Products {
  HWY_INLINE Products(const Anchors& anchors, const PhasorArrays& phasors, int64_t k, int64_t at) {
    for (int i = 0; i < kParts; ++i) {
      const int64_t j = i * static_cast<int64_t>(hn::Lanes(D()));
      const V a = LoadD(&anchors.cos_high[k + j]), b = LoadD(&anchors.sin_high[k + j]);
      const V c = LoadD(phasors.cos_high + at + j), s = LoadD(phasors.sin_high + at + j);
      cos[i] = hn::NegMulAdd(b, s, hn::Mul(a, c));
      sin[i] = hn::MulAdd(a, s, hn::Mul(b, c));
    }
  }
  V cos[kParts];
  V sin[kParts];
};

template <class Rounding>
HWY_INLINE Cells<Rounding> ComputeCells(const Anchors& anchors, const PhasorArrays& phasors,
                                        const Errors<Rounding>& errors, int64_t k, int64_t at) {
  if constexpr (Rounding::kWide) {
    const Complex value = Multiply(LoadComplex(anchors, k), LoadComplex(phasors, at));
    auto difference = hn::Zero(DUint64());
    const V cos = Rounding::Round(value.cos, errors.cos, difference);
    const V sin = Rounding::Round(value.sin, errors.sin + k, difference);
    return {cos, sin, hn::AllTrue(DUint64(), hn::Eq(difference, hn::Zero(DUint64())))};
  } else {
    const Products value(anchors, phasors, k, at);
    const auto cos = ToFloat(value.cos), sin = ToFloat(value.sin);
    const auto margin = hn::Min(Rounding::Margin(value.cos, cos), Rounding::Margin(value.sin, sin));
    const auto near = hn::Lt(margin, hn::Set(DInt(), Rounding::kLeastMargin));
    const auto small = hn::Lt(hn::Abs(hn::Mul(cos, sin)), hn::LoadU(DFloat(), errors.product + k));
    const bool decided = hn::AllFalse(DInt(), hn::Or(near, hn::RebindMask(DInt(), small)));
    return {Rounding::FromFloat(cos), Rounding::FromFloat(sin), decided};
  }
}

// Not 0 in the lanes that are undecided.
template <class Rounding>
HWY_INLINE hn::Vec<typename Rounding::DDifference> Undecided(const Anchors& anchors,
                                                             const PhasorArrays& phasors,
                                                             const Errors<Rounding>& errors,
                                                             int64_t k, int64_t at) {
  if constexpr (Rounding::kWide) {
    const Complex value = Multiply(LoadComplex(anchors, k), LoadComplex(phasors, at));
    auto difference = hn::Zero(DUint64());
    Rounding::Round(value.cos, errors.cos, difference);
    Rounding::Round(value.sin, errors.sin + k, difference);
    return difference;
  } else {
    const Products value(anchors, phasors, k, at);
    return hn::Or(Rounding::Difference(value.cos, errors.cos),
                  Rounding::Difference(value.sin, errors.sin + k));
  }
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

// Stores whole vectors of cells at element k (kColumns) or 2k (the others) from the row's places.
template <class Rounding, StoreForm kForm, int kCopies>
HWY_INLINE void StoreCells(const Row<Rounding>& row, const Cells<Rounding>& cells, bool sine_first,
                           int64_t k) {
  using DOut = typename Rounding::DOut;
  if constexpr (kForm == StoreForm::kRepeated) {
    hn::StoreInterleaved2(cells.cos, cells.cos, DOut(), row.cos[0] + 2 * k);
    hn::StoreInterleaved2(cells.sin, cells.sin, DOut(), row.sin[0] + 2 * k);
    return;
  }
  for (int copy = 0; copy < kCopies; ++copy) {
    if constexpr (kForm == StoreForm::kColumns) {
      hn::StoreU(cells.cos, DOut(), row.cos[copy] + k);
      hn::StoreU(cells.sin, DOut(), row.sin[copy] + k);
    } else if (sine_first) {
      hn::StoreInterleaved2(cells.sin, cells.cos, DOut(), row.sin[copy] + 2 * k);
    } else {
      hn::StoreInterleaved2(cells.cos, cells.sin, DOut(), row.cos[copy] + 2 * k);
    }
  }
}

// Stores the cells that exist among those of the last, incomplete vector, one by one.
template <class Rounding>
HWY_NOINLINE void StoreTail(const TileArgs& args, const Cells<Rounding>& cells, int row,
                            int64_t first) {
  const typename Rounding::DOut d;
  const Row<Rounding> places(args, row);
  hn::TFromD<decltype(d)> cos[kPairPadding] = {}, sin[kPairPadding] = {};
  hn::StoreU(cells.cos, d, cos);
  hn::StoreU(cells.sin, d, sin);
  const int64_t step = args.form == StoreForm::kColumns ? 1 : 2;
  const int64_t end = std::min<int64_t>(first + hn::Lanes(d), args.pairs);
  for (int64_t k = first; k < end; ++k) {
    for (int copy = 0; copy < args.copies; ++copy) {
      if (k < args.cosines)
        std::memcpy(places.cos[copy] + k * step, &cos[k - first], sizeof(cos[0]));
      if (k < args.sines) std::memcpy(places.sin[copy] + k * step, &sin[k - first], sizeof(sin[0]));
    }
  }
}

// Appends the undecided pairs of one vector, computed once more so that the hot path keeps nothing
// of it.
template <class Rounding>
HWY_NOINLINE size_t Report(const TileArgs& args, const Errors<Rounding>& errors, int row,
                           int64_t first, size_t count) {
  const typename Rounding::DDifference d;
  hn::TFromD<decltype(d)> lanes[kPairPadding] = {};
  hn::StoreU(Undecided<Rounding>(*args.anchors, args.phasors, errors, first,
                                 row * args.phasor_stride + first),
             d, lanes);
  const int64_t end = std::min<int64_t>(first + hn::Lanes(d), args.pairs);
  for (int64_t k = first; k < end; ++k) {
    if (lanes[k - first] != 0) args.undecided[count++] = static_cast<uint32_t>(row << 16 | k);
  }
  return count;
}

// Writes one row; returns the new number of undecided entries. Everything that the loop needs is
// local and its address stays here: stores of elements would otherwise make the compiler load it
// again.
template <class Rounding, StoreForm kForm, int kCopies>
HWY_INLINE size_t WriteRow(const TileArgs& args, const Errors<Rounding>& errors, int row,
                           size_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(typename Rounding::DOut()));
  const int64_t whole = std::min(args.cosines, args.sines) / lanes * lanes;
  const Row<Rounding> places(args, row);
  const Anchors& anchors = *args.anchors;
  const PhasorArrays phasors = args.phasors;
  const int64_t base = row * args.phasor_stride, pairs = args.pairs;
  const bool sine_first = args.sine_first;
  for (int64_t k = 0; k < whole; k += lanes) {
    const auto cells = ComputeCells<Rounding>(anchors, phasors, errors, k, base + k);
    StoreCells<Rounding, kForm, kCopies>(places, cells, sine_first, k);
    if (HWY_UNLIKELY(!cells.decided)) count = Report<Rounding>(args, errors, row, k, count);
  }
  for (int64_t k = whole; k < pairs; k += lanes) {
    const auto cells = ComputeCells<Rounding>(anchors, phasors, errors, k, base + k);
    StoreTail<Rounding>(args, cells, row, k);
    if (!cells.decided) count = Report<Rounding>(args, errors, row, k, count);
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
    case StoreForm::kRepeated:
      return WriteRows<Rounding, StoreForm::kRepeated, 2>(args);
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
    case ElementType::kF64:
      return WriteForm<RoundF64>(args);
    case ElementType::kF16:
      return WriteForm<RoundF16>(args);
    case ElementType::kBF16:
      return WriteForm<RoundBF16>(args);
    default:
      return WriteForm<RoundF32>(args);
  }
}

// sin and cos of step + rest by the addition theorem: with x = rest, sin x = x + t, cos x = 1 − q,
// and q and t in double (below 2^-13.6, error 2^-64.6). The product of the step with x.high is
// exact and the other terms round to less: |δA| ≤ 2^-63. A sine is 2^-6.4 and more, and its error
// at most 2^-57 of it, or the step's own is 0; then sin x alone remains, good to 2^-64 of itself.
HWY_INLINE Complex AddAngle(const Complex& step, const Pair& x) {
  const D d;
  const V square = hn::Mul(x.high, x.high);
  const auto next = [&](double coefficient, V sum) {
    return hn::MulAdd(square, sum, hn::Set(d, coefficient));
  };
  const V p = next(-1.0 / 6, next(1.0 / 120, next(-1.0 / 5040, hn::Set(d, 1.0 / 362880))));
  const V r = next(0.5, next(-1.0 / 24, next(1.0 / 720, hn::Set(d, -1.0 / 40320))));
  const V t = hn::MulAdd(hn::Mul(x.high, square), p, x.low), q = hn::Mul(square, r);
  const auto part = [&](const Pair& own, const Pair& other) {  // own · cos x + other · sin x
    const Pair product = TwoProduct(other.high, x.high);
    const Pair sum = TwoSum(own.high, product.high);
    V low = hn::MulAdd(other.high, t, hn::MulAdd(other.low, x.high, own.low));
    low = hn::Add(hn::NegMulAdd(own.high, q, low), product.low);
    return QuickTwoSum(sum.high, hn::Add(sum.low, low));
  };
  return {part(step.cos, Negate(step.sin)), part(step.sin, step.cos)};
}

static void SetAnchorsOn(const ReducedAngles& angles, Factor magnitude, int64_t pairs,
                         Anchors& anchors) {
  const D d;
  const V m = hn::Set(d, magnitude.high), rest = hn::Set(d, magnitude.low);
  const auto scaled = [&](const Pair& part) {
    const Pair product = TwoProduct(part.high, m);
    const V low = hn::MulAdd(part.low, m, hn::MulAdd(part.high, rest, product.low));
    return QuickTwoSum(product.high, low);
  };
  for (int64_t k = 0; k < pairs; k += hn::Lanes(d)) {
    const Pair angle{LoadD(&angles.rest_high[k]), LoadD(&angles.rest_low[k])};
    const Complex anchor = AddAngle(LoadComplex(angles, k), angle);
    const Complex result{scaled(anchor.cos), scaled(anchor.sin)};
    StoreComplex(result, anchors, k);
    // A sine of 0 is that of a frequency of 0, or of position 0; neither has an error.
    hn::StoreU(hn::Mul(hn::Abs(result.sin.high), hn::Set(d, kAnchorError)), d, &anchors.drift[k]);
  }
}

static void AdvanceAnchorsOn(ElementType type, const PhasorArrays& step, const double* sin_bound,
                             double magnitude, int64_t pairs, Anchors& anchors) {
  const D d;
  const double step_error = type == ElementType::kF64 ? kWideError : kNarrowStepError;
  const V m = hn::Set(d, magnitude), error = hn::Set(d, step_error);
  for (int64_t k = 0; k < pairs; k += hn::Lanes(d)) {
    const Complex anchor = LoadComplex(anchors, k);
    const V size = hn::MulAdd(m, LoadD(sin_bound + k), hn::Abs(anchor.sin.high));
    hn::StoreU(hn::MulAdd(size, error, LoadD(&anchors.drift[k])), d, &anchors.drift[k]);
    StoreComplex(Normalize(Multiply(anchor, LoadComplex(step, k))), anchors, k);
  }
}

static void FillPowersOn(const PhasorArrays& first, int64_t pairs, int rows, int64_t stride,
                         int64_t low_stride, const PhasorRows& out) {
  const D d;
  for (int64_t k = 0; k < pairs; k += hn::Lanes(d)) {
    const Complex base = LoadComplex(first, k);
    Complex power = base;
    for (int row = 1; row < rows; ++row) {
      hn::StoreU(power.cos.high, d, out.cos_high + row * stride + k);
      hn::StoreU(power.sin.high, d, out.sin_high + row * stride + k);
      hn::StoreU(power.cos.low, d, out.cos_low + row * low_stride + k);
      hn::StoreU(power.sin.low, d, out.sin_low + row * low_stride + k);
      power = Normalize(Multiply(power, base));
    }
  }
}

static KernelTable GetKernelTable() {
  return {&WriteTileOn, &SetAnchorsOn, &AdvanceAnchorsOn, &FillPowersOn, &WriteCosSinOn};
}

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target

// The kernels of tile.h for one target.
//
// Error of a value: u = 2^-53, anchor A = m(C + iS), phasor c + is (so |Cc| + |Ss| ≤ 1), and σ the
// largest |sin(r·w)| of r ≤ R.
//  * Phasors. Power r ≤ 2R + 1 = 33 comes from products that are each good to 2^-100 of the size of their
//    own part, 34 · 2^-100 in all: |δc| ≤ 2^-94.9, and of the rows |δs| ≤ 2^-94.9 · σ. The step to the next
//    tile has |s| ≤ 3σ and |δs| ≤ 2^-93 · σ.
//  * Anchors. Multiplying by a phasor turns their error δA and keeps its size. After 255 steps it is
//    what they began with, 2^-103 · m for F64 and 2^-63 · m for the others, and 2^-86.8 · m more. So
//    much for cosines. A sine's error begins with a share of |S| and takes on |δA| · |s| at every
//    step: less than 2^-84 · (m·σ + |S|) for F64 (kWideError) and 2^-61 · (m·σ + |S|) for the
//    others (kNarrowStepError). Anchors::drift sums it up.
//  * F64 values. One more product, 2^-100, and the phasor's errors: the error of a sine is below
//    2^-84 · (m·σ + |S|) + drift, that of a cosine below 2^-84 · m.
//  * The others are one product of high halves in double. Each of its terms has at most four
//    roundings (two of the halves, product, sum), with or without FMA, and the ends of the interval
//    one more: below 5.03 u · min(m, m·σ + |S|), and 5.03 u · m for a cosine, plus the above.
//    kProductError is 6 u, and the sine's drift comes on top.
// Bounds in terms of σ and |S| keep the small sines of slow frequencies apart from 0.

#if defined(POSENC_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_TILE_INL_H_
#undef POSENC_KERNELS_TILE_INL_H_
#else
#define POSENC_KERNELS_TILE_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "hwy/highway.h"
#include "server/encodings/kernels/anchors-inl.h"
#include "server/encodings/kernels/cos_sin-inl.h"
#include "server/encodings/kernels/double_double-inl.h"
#include "server/encodings/kernels/kernel_table.h"
#include "server/encodings/kernels/products-inl.h"
#include "server/encodings/kernels/rounding-inl.h"
#include "server/encodings/kernels/single-inl.h"
#include "server/encodings/kernels/store-inl.h"
#include "server/encodings/kernels/turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

constexpr double kProductError = 0x1.8p-51;

// Error bounds of one chunk.
struct Errors {
  alignas(64) double sin[kChunkPairs];
  double cos;
  // Where |cos · sin| is at least this, both are large enough for the quick test.
  alignas(64) float product[kChunkPairs];
  Singles singles;  // of BF16
};

// The quick test wants |v| ≥ kPlaces times v's error and v ≥ kLeastNormal, of the cosine and of the
// sine. As the one is at most m and the other at most `size`, a lower bound of their product gives
// both. 2^-80 keeps the products themselves normal floats; a sine that is exactly 0 needs no test.
template <class Rounding>
HWY_INLINE void StoreLeastProduct(V size, V sine_error, double cosine_error, double magnitude, float* to) {
  const D d;
  const V m = hn::Set(d, magnitude), places = hn::Set(d, Rounding::kPlaces),
          least = hn::Set(d, Rounding::kLeastNormal);
  const V sine = hn::Mul(hn::Max(hn::Mul(sine_error, places), least), m);
  const V cosine =
      hn::Mul(hn::Set(d, std::max(cosine_error * Rounding::kPlaces, Rounding::kLeastNormal)), size);
  const V product = hn::Max(hn::Max(sine, cosine), hn::Set(d, 0x1p-80));
  const V used =
      hn::IfThenElseZero(hn::Gt(sine_error, hn::Zero(d)), hn::Mul(product, hn::Set(d, 1.01)));
  const hn::Rebind<float, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, used), narrow, to);
}

template <class Rounding>
HWY_INLINE void FillErrors(const TileArgs& args, Errors& errors) {
  const D d;
  const double product = Rounding::kWide ? 0.0 : kProductError;
  const V relative = hn::Set(d, product + kWideError), magnitude = hn::Set(d, args.magnitude);
  errors.cos = (product + kWideError) * args.magnitude;
  for (int64_t k = 0; k < args.pairs; k += hn::Lanes(d)) {
    const V sine = hn::Abs(LoadD(&args.anchors->sin_high[k]));
    const V sum = hn::MulAdd(magnitude, LoadD(args.sin_bound + k), sine);
    const V size = Rounding::kWide ? sum : hn::Min(sum, magnitude);
    const V error = hn::MulAdd(size, relative, LoadD(&args.anchors->drift[k]));
    hn::StoreU(error, d, &errors.sin[k]);
    if constexpr (!Rounding::kWide) {
      StoreLeastProduct<Rounding>(size, error, errors.cos, args.magnitude, &errors.product[k]);
      if constexpr (Rounding::kSingle) StoreSingles(*args.anchors, size, args.magnitude, k, errors.singles);
    }
  }
}

// A vector of cells of each kind, and what tells whether they may be undecided.
template <class Rounding, bool kWide = Rounding::kWide>
struct Cells {
  using DMask = DInt;
  HWY_INLINE Cells(const Narrow& value, const Errors& errors, int64_t k) {
    const auto cosine = ToFloat(value.cos), sine = ToFloat(value.sin);
    margin = Margin<false>(value, cosine, sine);
    const auto product = hn::Abs(hn::Mul(cosine, sine));
    small = hn::VecFromMask(DFloat(), hn::Lt(product, hn::LoadU(DFloat(), errors.product + k)));
    cos = Rounding::FromFloat(cosine);
    sin = Rounding::FromFloat(sine);
  }
  template <bool kInOrder>
  static HWY_INLINE hn::Vec<DInt> Margin(const Narrow& value, hn::Vec<DFloat> cosine, hn::Vec<DFloat> sine) {
    return hn::Min(Rounding::template Margin<kInOrder>(value.cos, cosine),
                   Rounding::template Margin<kInOrder>(value.sin, sine));
  }
  // Makes the lanes of Doubtful those of the cells; before, they tell only whether there are any.
  HWY_INLINE void PutInOrder(const Narrow& value) {
    margin = Margin<true>(value, ToFloat(value.cos), ToFloat(value.sin));
  }
  HWY_INLINE void Join(const Cells& other) {
    margin = hn::Min(margin, other.margin);
    small = hn::Or(small, other.small);
  }
  HWY_INLINE hn::Mask<DMask> Doubtful() const {
    const auto near = hn::Lt(margin, hn::Set(DInt(), Rounding::kLeastMargin));
    return hn::Or(near, hn::MaskFromVec(hn::BitCast(DInt(), small)));
  }
  hn::Vec<typename Rounding::DOut> cos, sin;
  hn::Vec<DInt> margin;
  hn::Vec<DFloat> small;
};

template <class Rounding>
struct Cells<Rounding, true> {
  using DMask = DUint64;
  HWY_INLINE Cells(const Wide& value, const Errors& errors, int64_t k) : difference(hn::Zero(DUint64())) {
    cos = Round(value.cos[0], hn::Set(D(), errors.cos));
    sin = Round(value.sin[0], LoadD(errors.sin + k));
  }
  HWY_INLINE void PutInOrder(const Wide&) {}
  HWY_INLINE void Join(const Cells& other) { difference = hn::Or(difference, other.difference); }
  HWY_INLINE hn::Mask<DMask> Doubtful() const { return hn::Ne(difference, hn::Zero(DUint64())); }
  HWY_INLINE V Round(const Pair& value, V error) {
    const V low = hn::Add(value.high, hn::Sub(value.low, error));
    const V high = hn::Add(value.high, hn::Add(value.low, error));
    difference =
        hn::Or(difference, hn::Xor(hn::BitCast(DUint64(), low), hn::BitCast(DUint64(), high)));
    return high;
  }
  V cos, sin;
  hn::Vec<DUint64> difference;
};

// One vector of a row once more, as doubles in memory and with a bit for each pair in doubt.
template <class Rounding>
struct Lanes {
  HWY_INLINE Lanes(const TileArgs& args, const Errors& errors, int row, int64_t first) {
    Numbers<Rounding> value, none;
    const int64_t at = std::abs(row - args.centre) * args.phasor_stride + first;
    if (row < args.centre) {
      Turn<Way::kBack>(*args.anchors, args.phasors, first, at, at, value, none);
    } else {
      Turn<Way::kOn>(*args.anchors, args.phasors, first, at, at, value, none);
    }
    for (int i = 0; i < Numbers<Rounding>::kCount; ++i) {
      const auto lane = static_cast<int64_t>(i * hn::Lanes(D()));
      Keep(value.cos[i], cos_high + lane, cos_low + lane);
      Keep(value.sin[i], sin_high + lane, sin_low + lane);
    }
    Cells<Rounding> cells(value, errors, first);
    cells.PutInOrder(value);
    uint8_t bits[sizeof(doubtful)] = {};
    hn::StoreMaskBits(typename Cells<Rounding>::DMask(), cells.Doubtful(), bits);
    std::memcpy(&doubtful, bits, sizeof(doubtful));
  }
  static HWY_INLINE void Keep(V value, double* high, double*) { hn::StoreU(value, D(), high); }
  static HWY_INLINE void Keep(const Pair& value, double* high, double* low) {
    hn::StoreU(value.high, D(), high);
    hn::StoreU(value.low, D(), low);
  }
  double cos_high[kPairPadding], sin_high[kPairPadding];
  double cos_low[kPairPadding] = {}, sin_low[kPairPadding] = {};
  uint64_t doubtful;
};

// Stores cells of one vector one by one, those in doubt or all, and lists the undecided pairs.
template <class Rounding>
HWY_NOINLINE size_t WriteSingly(const TileArgs& args, const Errors& errors, int row, int64_t first, bool all,
                                size_t count) {
  const Lanes<Rounding> lanes(args, errors, row, first);
  const Row<Rounding> places(args, row);
  const int64_t step = args.form == StoreForm::kColumns ? 1 : 2;
  const auto end = std::min<int64_t>(hn::Lanes(typename Rounding::DOut()), args.pairs - first);
  const uint64_t existing = ~uint64_t{0} >> (64 - end);
  for (uint64_t rest = all ? existing : lanes.doubtful & existing; rest != 0; rest &= rest - 1) {
    const int64_t i = std::countr_zero(rest), k = first + i;
    bool decided = true;
    const auto write = [&](double high, double low, double error, auto* const* to, bool exists) {
      const auto bits = Rounding::Nearest(high + (low + error));
      decided = decided && bits == Rounding::Nearest(high + (low - error));
      if (!exists) return;
      for (int copy = 0; copy < args.copies; ++copy) std::memcpy(to[copy] + k * step, &bits, sizeof(bits));
    };
    write(lanes.cos_high[i], lanes.cos_low[i], errors.cos, places.cos, k < args.cosines);
    write(lanes.sin_high[i], lanes.sin_low[i], errors.sin[k], places.sin, k < args.sines);
    if (!decided) args.undecided[count++] = static_cast<uint32_t>(row << 16 | k);
  }
  return count;
}

// One or two rows to write, by their distances from the anchor's. Everything that the loops need is local to
// them and its address stays there: stores of elements would otherwise make the compiler load it again.
template <class Rounding, Way kWay>
struct Rows {
  HWY_INLINE Rows(const TileArgs& args, int first_distance, int second_distance)
      : first_row(args.centre + (FirstIsBack(kWay) ? -first_distance : first_distance)),
        second_row(args.centre + (SecondIsBack(kWay) ? -second_distance : second_distance)),
        first_places(args, first_row),
        second_places(args, HasSecond(kWay) ? second_row : first_row),
        phasors(args.phasors),
        first_base(first_distance * args.phasor_stride),
        second_base(second_distance * args.phasor_stride),
        sine_first(args.sine_first) {}
  const int first_row, second_row;
  const Row<Rounding> first_places, second_places;
  const PhasorArrays phasors;
  const int64_t first_base, second_base;
  const bool sine_first;
};

// Writes a vector of cells for each row, in double or double-double; returns whether all of them are decided.
template <class Rounding, StoreForm kForm, int kCopies, Way kWay>
HWY_INLINE bool WriteStep(const Rows<Rounding, kWay>& rows, const Anchors& anchors, const Errors& errors,
                          int64_t k) {
  Numbers<Rounding> first, second;
  Turn<kWay>(anchors, rows.phasors, k, rows.first_base + k, rows.second_base + k, first, second);
  Cells<Rounding> cells(first, errors, k);
  StoreCells<Rounding, kForm, kCopies>(rows.first_places, cells.cos, cells.sin, rows.sine_first, k);
  if constexpr (HasSecond(kWay)) {
    const Cells<Rounding> others(second, errors, k);
    StoreCells<Rounding, kForm, kCopies>(rows.second_places, others.cos, others.sin, rows.sine_first, k);
    cells.Join(others);
  }
  return hn::AllFalse(typename Cells<Rounding>::DMask(), cells.Doubtful());
}

// Writes whole vectors of two rows in float, and lists in `again` those that this does not decide; returns how many.
template <StoreForm kForm, int kCopies>
HWY_INLINE size_t WriteInSingle(const Rows<RoundBF16, Way::kBoth>& rows, const Singles& singles, int64_t whole,
                                int16_t* again) {
  size_t count = 0;
  for (int64_t k = 0; k < whole; k += hn::Lanes(DFloat())) {
    const SingleRows cells(singles, rows.phasors, k, rows.first_base, rows.second_base);
    StoreEnds<kForm, kCopies>(rows.first_places, cells.on, rows.sine_first, k);
    StoreEnds<kForm, kCopies>(rows.second_places, cells.back, rows.sine_first, k);
    again[count] = static_cast<int16_t>(k);
    count += SameBF16(hn::Or(cells.on.difference, cells.back.difference)) ? 0 : 1;
  }
  return count;
}

// Writes one or two rows, by their distances from the anchor's; returns the new number of undecided entries.
template <class Rounding, StoreForm kForm, int kCopies, Way kWay>
HWY_INLINE size_t WriteRow(const TileArgs& args, const Errors& errors, int first_distance, int second_distance,
                           size_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(typename Rounding::DOut()));
  const int64_t whole = std::min(args.cosines, args.sines) / lanes * lanes, pairs = args.pairs;
  const Rows<Rounding, kWay> rows(args, first_distance, second_distance);
  const Anchors& anchors = *args.anchors;
  const auto singly = [&](int64_t k, bool all) {
    count = WriteSingly<Rounding>(args, errors, rows.first_row, k, all, count);
    if (HasSecond(kWay)) count = WriteSingly<Rounding>(args, errors, rows.second_row, k, all, count);
  };
  const auto step = [&](int64_t k) {
    if (!WriteStep<Rounding, kForm, kCopies>(rows, anchors, errors, k)) singly(k, false);
  };
  bool done = false;
  if constexpr (Rounding::kSingle && kWay == Way::kBoth) {
    done = args.magnitude < kMostSingle;
    if (done) {
      int16_t again[kChunkPairs + 1];
      const size_t listed = WriteInSingle<kForm, kCopies>(rows, errors.singles, whole, again);
      for (size_t i = 0; i < listed; ++i) step(again[i]);
    }
  }
  for (int64_t k = done ? whole : 0; k < whole; k += lanes) step(k);
  for (int64_t k = whole; k < pairs; k += lanes) singly(k, true);
  return count;
}

// Rows as far before the anchor's as behind it, one of each at a time: they share products (F64) or loads (BF16).
template <class Rounding, StoreForm kForm, int kCopies>
HWY_INLINE size_t WriteMirrored(const TileArgs& args, const Errors& errors) {
  size_t count = 0;
  for (int on = 0; on <= args.centre; ++on) {
    const int back = Rounding::kWide ? on : args.centre - on;
    const bool has_on = args.centre + on < args.rows, has_back = back > 0 && args.centre - back < args.rows;
    if (has_on && has_back) {
      count = WriteRow<Rounding, kForm, kCopies, Way::kBoth>(args, errors, on, back, count);
    } else if (has_on) {
      count = WriteRow<Rounding, kForm, kCopies, Way::kOn>(args, errors, on, on, count);
    } else if (has_back) {
      count = WriteRow<Rounding, kForm, kCopies, Way::kBack>(args, errors, back, back, count);
    }
  }
  return count;
}

// Rows in the order of memory, two at a time: what is written in one run, the CPU fetches ahead.
template <class Rounding, StoreForm kForm, int kCopies>
HWY_INLINE size_t WriteInOrder(const TileArgs& args, const Errors& errors) {
  size_t count = 0;
  const int before = std::min(args.centre, args.rows);
  int row = 0;
  for (; row + 1 < before; row += 2) {
    const int back = args.centre - row;
    count = WriteRow<Rounding, kForm, kCopies, Way::kTwoBack>(args, errors, back, back - 1, count);
  }
  for (; row < before; ++row) {
    const int back = args.centre - row;
    count = WriteRow<Rounding, kForm, kCopies, Way::kBack>(args, errors, back, back, count);
  }
  for (; row + 1 < args.rows; row += 2) {
    const int on = row - args.centre;
    count = WriteRow<Rounding, kForm, kCopies, Way::kTwoOn>(args, errors, on, on + 1, count);
  }
  for (; row < args.rows; ++row) {
    const int on = row - args.centre;
    count = WriteRow<Rounding, kForm, kCopies, Way::kOn>(args, errors, on, on, count);
  }
  return count;
}

template <class Rounding, StoreForm kForm, int kCopies>
size_t WriteRows(const TileArgs& args) {
  Errors errors;
  FillErrors<Rounding>(args, errors);
  if constexpr (Rounding::kWide || Rounding::kSingle) {
    return WriteMirrored<Rounding, kForm, kCopies>(args, errors);
  } else {
    return WriteInOrder<Rounding, kForm, kCopies>(args, errors);
  }
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

static KernelTable GetKernelTable() {
  return {&WriteTileOn,  &SetAnchorsOn,  &AdvanceAnchorsOn,
          &FillPowersOn, &WriteCosSinOn, &WriteProductsOn};
}

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target

// Where the cosines and sines of one row go: the physical form of a sinusoidal or rotary table.
//
// A row is made of segments, each a run of pairs: one for most tables, one for each axis where blocks of
// columns follow the axes. Copy c of cosine i of a segment is element cos[c].begin + i · step of its
// tensor's row, and the same for sines. The vector kernels know the three shapes that occur (StoreForm);
// everything else uses the places. Tables of angles have cosines only, which are their angles. Values.

#ifndef POSENC_SERVER_ENCODINGS_ROW_LAYOUT_H_
#define POSENC_SERVER_ENCODINGS_ROW_LAYOUT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "server/encodings/kernels/tile.h"

namespace posenc {

struct Place {
  int tensor = 0;
  int64_t begin = 0;  // in elements
};

struct Segment {
  int64_t first_pair = 0;  // its pair 0 among the table's
  StoreForm form = StoreForm::kColumns;
  int copies = 1;
  std::array<Place, 2> cos{}, sin{};
  int64_t cosines = 0;  // pairs i < cosines have a cosine, i < sines a sine
  int64_t sines = 0;

  int64_t pairs() const { return std::max(cosines, sines); }
  int64_t step() const { return form == StoreForm::kColumns ? 1 : 2; }
};

struct RowLayout {
  std::vector<Segment> segments;  // by first_pair
  int64_t pairs = 0;              // those that no segment stores included
  int64_t zero_columns = 0;       // the last columns of tensor 0 are zero
};

// Writes the low `size_bytes` of `bits`; memory is little-endian, as on the wire.
inline void StoreElement(std::byte* to, uint64_t bits, size_t size_bytes) {
  switch (size_bytes) {
    case 2:
      std::memcpy(to, &bits, 2);
      return;
    case 4:
      std::memcpy(to, &bits, 4);
      return;
    default:
      std::memcpy(to, &bits, 8);
      return;
  }
}

// Writes the elements of pair i of a segment at all of their places; row(t) is where the row begins in
// tensor t.
template <typename RowOfTensor>
void StorePair(const Segment& segment, int64_t i, uint64_t cos, uint64_t sin, size_t element_bytes,
               const RowOfTensor& row) {
  const auto store = [&](const Place& place, uint64_t bits) {
    const int64_t element = place.begin + i * segment.step();
    StoreElement(row(place.tensor) + element * static_cast<int64_t>(element_bytes), bits, element_bytes);
  };
  for (int copy = 0; copy < segment.copies; ++copy) {
    if (i < segment.cosines) store(segment.cos[copy], cos);
    if (i < segment.sines) store(segment.sin[copy], sin);
  }
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ROW_LAYOUT_H_

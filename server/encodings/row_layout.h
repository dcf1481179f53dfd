// Where the cosines and sines of one row go: the physical form of a sinusoidal or rotary table.
//
// A form is a list of places. Copy c of cosine k is element cos[c].begin + k · step of its tensor's
// row, and the same for sines. The vector kernels know the three shapes that occur (StoreForm);
// everything else uses the places. A value.

#ifndef POSENC_SERVER_ENCODINGS_ROW_LAYOUT_H_
#define POSENC_SERVER_ENCODINGS_ROW_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "server/encodings/kernels/tile.h"

namespace posenc {

struct Place {
  int tensor = 0;
  int64_t begin = 0;  // in elements
};

struct RowLayout {
  StoreForm form = StoreForm::kColumns;
  int copies = 1;
  std::array<Place, 2> cos{}, sin{};
  int64_t cosines = 0;  // pairs k < cosines have a cosine, k < sines a sine
  int64_t sines = 0;
  bool zero_column = false;  // the last column of tensor 0 is zero

  int64_t pairs() const { return cosines > sines ? cosines : sines; }
  int64_t step() const { return form == StoreForm::kColumns ? 1 : 2; }
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

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ROW_LAYOUT_H_

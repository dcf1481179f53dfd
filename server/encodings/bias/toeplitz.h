// Biases [heads, queries, keys] whose cells depend on key − query alone: each value of a head is computed
// once for a call, and the rows are shifted runs of them. Pure templates, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_BIAS_TOEPLITZ_H_
#define POSENC_SERVER_ENCODINGS_BIAS_TOEPLITZ_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "server/core/element_type.h"
#include "server/encodings/row_layout.h"

namespace posenc {

// The bits of −∞. Requires: `type` is F64, F32, F16 or BF16.
inline uint64_t NegativeInfinity(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return 0xFFF0000000000000;
    case ElementType::kF32:
      return 0xFF800000;
    case ElementType::kF16:
      return 0xFC00;
    default:
      return 0xFF80;
  }
}

// Calls `write(head, first_query, query_count, to)` for each head that rows [first_row, first_row +
// row_count) of [heads, queries] touch; `to` moves on by row_bytes a row.
template <typename Write>
void ForEachHead(int64_t queries, int64_t first_row, int64_t row_count, int64_t row_bytes, std::byte* to,
                 const Write& write) {
  for (int64_t row = first_row; row < first_row + row_count;) {
    const int64_t query = row % queries;
    const int64_t count = std::min(queries - query, first_row + row_count - row);
    write(row / queries, query, count, to);
    to += count * row_bytes;
    row += count;
  }
}

// Calls `fill(band, delta, count)` for the elements of key − query = delta and those after it, and copies them to
// rows of `keys` elements for queries [first_query, first_query + query_count).
template <typename Fill>
void WriteFromBand(int64_t keys, int64_t first_query, int64_t query_count, ElementType type, std::byte* out,
                   const Fill& fill) {
  const auto size = static_cast<int64_t>(ElementSizeBytes(type));
  const int64_t deltas = keys + query_count - 1;
  std::vector<std::byte> band(deltas * size);
  fill(band.data(), 1 - first_query - query_count, deltas);
  for (int64_t shift = query_count - 1; shift >= 0; --shift, out += keys * size) {
    std::memcpy(out, band.data() + shift * size, keys * size);
  }
}

// Writes rows of `keys` elements for queries [first_query, first_query + query_count); `cell(delta)`
// gives the bits for key − query = delta.
template <typename Cell>
void WriteToeplitz(int64_t keys, int64_t first_query, int64_t query_count, ElementType type,
                   std::byte* out, const Cell& cell) {
  const auto size = static_cast<int64_t>(ElementSizeBytes(type));
  WriteFromBand(keys, first_query, query_count, type, out, [&](std::byte* to, int64_t delta, int64_t count) {
    for (int64_t i = 0; i < count; ++i) StoreElement(to + i * size, cell(delta + i), size);
  });
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_BIAS_TOEPLITZ_H_

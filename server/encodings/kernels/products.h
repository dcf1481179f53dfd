// Products of whole numbers and real constants, rounded to elements: the kernel of linear biases and of angles.
//
// The vector part multiplies in double, or in double-double for F64, and tests the rounding; what it cannot
// decide it lists, for the caller to redo (exact/quick_product.h says how far products are off). Decided cells are
// the nearest elements, so every target writes the same bits. Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_KERNELS_PRODUCTS_H_
#define POSENC_SERVER_ENCODINGS_KERNELS_PRODUCTS_H_

#include <cstddef>
#include <cstdint>

#include "server/core/element_type.h"

namespace posenc {

// Element i is (first + i · step) times a constant high + low: constant i, or with `one_constant` constant 0.
struct ProductArgs {
  double first = 0;
  double step = 0;
  const double* high = nullptr;  // unless there is one, kPairPadding more may be read behind the last
  const double* low = nullptr;
  bool one_constant = false;
  bool exact = false;  // every product is a float: low is 0 and no bit is lost
  int64_t count = 0;
  std::byte* to = nullptr;
  uint32_t* undecided = nullptr;  // room for `count`
};

// Writes the elements; returns how many of them are undecided. Requires: factors are whole and below 2^53.
size_t WriteProducts(ElementType type, const ProductArgs& args);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_KERNELS_PRODUCTS_H_

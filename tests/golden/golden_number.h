// Numbers of golden files and of tables as doubles, which hold every value of every element type.

#ifndef POSENC_TESTS_GOLDEN_GOLDEN_NUMBER_H_
#define POSENC_TESTS_GOLDEN_GOLDEN_NUMBER_H_

#include <cstddef>
#include <string>

#include "server/core/element_type.h"

namespace posenc {

// Reads a C hex float, "inf" or "-inf".
double ParseHexFloat(const std::string& text);

// Rounds a decimal of any length once to an element type: to nearest, ties to even, subnormals included.
double RoundDecimal(ElementType type, const std::string& decimal);

// Reads one element (F64, F32, F16 or BF16) from memory.
double DecodeElement(ElementType type, const std::byte* element);

// Says whether two numbers have the same bits: 0 and -0 do not.
bool SameBits(double a, double b);

}  // namespace posenc

#endif  // POSENC_TESTS_GOLDEN_GOLDEN_NUMBER_H_

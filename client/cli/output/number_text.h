// The text of one element of a tensor: the shortest decimal that gives the element back when it is read and
// rounded to the element's own type ("0.1" for F32's 0.100000001…, "0.3333" for F16's 0.333251953125).
// Pure functions.

#ifndef POSENC_CLIENT_CLI_OUTPUT_NUMBER_TEXT_H_
#define POSENC_CLIENT_CLI_OUTPUT_NUMBER_TEXT_H_

#include <cstddef>
#include <string>

#include "posenc/elements.h"

namespace posenc::cli {

// Numbers of one element: 2 for the complex types (real, imaginary), otherwise 1.
int PartsOf(ElementType type);

// The type of one part: F32 for C64, F64 for C128, otherwise the type itself.
ElementType PartType(ElementType type);

// The value of one real element at `data`, as a double, exactly. Requires: a real type.
double PartValue(ElementType type, const std::byte* data);

// The shortest text; "inf", "-inf" and "nan" for what is no number. Requires: a real type.
std::string PartText(ElementType type, const std::byte* data);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_OUTPUT_NUMBER_TEXT_H_

// Numbers in messages, notes and command lines, in as many digits as they have: absl::StrCat rounds a double to
// six, so that a message would speak of another number than the one that was given. Pure function.

#ifndef POSENC_SERVER_CORE_SHORTEST_DECIMAL_H_
#define POSENC_SERVER_CORE_SHORTEST_DECIMAL_H_

#include <string>

namespace posenc {

// Returns the shortest decimal that gives the double back when it is read; whole numbers below 10^15 without
// an exponent. "inf", "-inf", "nan" for what is no number.
std::string ShortestDecimal(double value);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SHORTEST_DECIMAL_H_

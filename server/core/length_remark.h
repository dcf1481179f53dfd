// What a rotary table leaves open whose scaling follows the length of a sequence that nobody named.
//
// LongRoPE chooses its list of factors by that length, dynamic NTK its base. Without effective_length a table is
// that of sequences within the trained length, for rows past it too, where a model would not use it. Pure function.

#ifndef POSENC_SERVER_CORE_LENGTH_REMARK_H_
#define POSENC_SERVER_CORE_LENGTH_REMARK_H_

#include <cstdint>
#include <string>

#include "server/core/specs/rope_spec.h"

namespace posenc {

// Returns one line about rows of `spec` at positions below `end_position`; empty where none of them is past the
// trained length, or effective_length is past it, or the scaling follows no length.
std::string LengthRemark(const RopeSpec& spec, int64_t end_position);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_LENGTH_REMARK_H_

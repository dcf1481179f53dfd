// The specs of the golden files: what their parameters are called here.

#ifndef POSENC_TESTS_GOLDEN_GOLDEN_SPECS_H_
#define POSENC_TESTS_GOLDEN_GOLDEN_SPECS_H_


#include "server/core/specs/rope_spec.h"
#include "tests/golden/golden_file.h"

namespace posenc {

// Returns the rotary table of a file golden-rope-1 or golden-mrope-1.
RopeSpec GoldenRopeSpec(const GoldenFile& file, RopeLayout layout);

}  // namespace posenc

#endif  // POSENC_TESTS_GOLDEN_GOLDEN_SPECS_H_

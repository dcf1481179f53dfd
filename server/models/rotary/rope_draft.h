// A rotary table while it is read: what its scaling, its axes and a runtime's own rules work on.
//
// The widths, the length and the base are there before the scaling is read, the scaling before the axes,
// all of it before a runtime's rules. Not thread-safe; lives as long as the reading of one table.

#ifndef POSENC_SERVER_MODELS_ROTARY_ROPE_DRAFT_H_
#define POSENC_SERVER_MODELS_ROTARY_ROPE_DRAFT_H_

#include <optional>
#include <string>

#include "server/models/rotary/rope_layers.h"
#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"

namespace posenc {

struct RopeDraft {
  const ModelScope& scope;
  const Layer& layer;
  Reading& reading;
  TableDraft draft;
  RopeSpec spec = {};
  std::string scaling_type = {};        // as the file calls it
  std::optional<double> short_mscale = {};  // magnitudes of the two longrope tables, where they differ
  std::optional<double> long_mscale = {};
  bool indexer = false;  // it is the table of a sparse attention's indexer

  const ModelFamily& family() const { return *scope.family; }
  const ConfigObject& block() const { return layer.block; }
  Violations& bad() { return reading.bad; }
};

// Factor on cosines and sines by YaRN's rule, 0.1·k·ln(s) + 1, and 1 for s ≤ 1.
double YarnMagnitude(double factor, double k);

// The factor on cosines and sines that a spec implies.
double MagnitudeOf(const RopeSpec& spec);

// Adds the table to the reading; two of them where the scaling is longrope and nothing says for which
// lengths.
void FinishRope(RopeDraft&& rope);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ROTARY_ROPE_DRAFT_H_

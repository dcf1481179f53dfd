// The parameters of a learned table: rows of a tensor of a checkpoint. A value; spec.h says what holds for
// all specs.

#ifndef POSENC_SERVER_CORE_SPECS_LEARNED_SPEC_H_
#define POSENC_SERVER_CORE_SPECS_LEARNED_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

// Resizes a table of patch positions from one grid to another: bicubic with a = −0.75 and half-pixel
// centres, as torch.nn.functional.interpolate(mode="bicubic", align_corners=False) does (Keys 1981). The
// first `leading_rows` (class tokens) are kept apart and stay as they are.
struct GridResize {
  int64_t source_height = 0;  // rows of the stored grid
  int64_t source_width = 0;
  int64_t height = 0;         // rows of the grid asked for
  int64_t width = 0;
  int64_t leading_rows = 0;

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    const auto side = [&](absl::string_view name, absl::string_view help, auto& member) {
      visit(Field{.name = name, .help = help, .low = 1, .high = limits::kMaxWidth, .required = true}, member);
    };
    side("source_height", "Rows of patches in the stored table", self.source_height);
    side("source_width", "Columns of patches in the stored table", self.source_width);
    side("height", "Rows of patches asked for", self.height);
    side("width", "Columns of patches asked for", self.width);
    visit(Field{.name = "leading_rows", .help = "Rows before the patches that stay as they are", .low = 0,
                .high = limits::kMaxWidth}, self.leading_rows);
  }
};

// Learned table [rows, width] (Gehring et al. 2017; BERT, GPT-2): a tensor that the server was given under
// a name. Rows are the stored ones; position p is row p + position_offset, 2 for OPT and BART,
// padding_idx + 1 for RoBERTa. The element type is the stored one unless another is asked for, which is
// then rounded to nearest even.
struct LearnedSpec {
  static constexpr absl::string_view kName = "learned";

  std::string name = "";  // required
  int64_t position_offset = 0;
  double row_scale = 1.0;  // times the stored numbers: d_model^(-1/2) in x-transformers
  std::optional<GridResize> resize = std::nullopt;
  // SHA-256 of the stored tensor's bytes, 64 hex digits. Filled in by the server, so that the table's key
  // covers the numbers; one that is given and differs is refused.
  std::string content_sha256 = "";

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "name", .help = "Name that the server was given the tensor under", .required = true},
          self.name);
    visit(Field{.name = "position_offset", .help = "Position p is row p + offset (2 for OPT, BART)",
                .low = -limits::kMaxWidth, .high = limits::kMaxWidth}, self.position_offset);
    visit(Field{.name = "row_scale", .help = "Factor on the stored numbers", .low = limits::kMinRowScale,
                .high = limits::kMaxRowScale}, self.row_scale);
    visit(Field{.name = "resize", .help = "Bicubic resize of a grid of patches"}, self.resize);
    visit(Field{.name = "content_sha256", .help = "Digest that the stored tensor must have"},
          self.content_sha256);
  }
};

absl::Status NormalizeFamily(LearnedSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_LEARNED_SPEC_H_

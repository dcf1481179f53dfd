#include "server/models/rotary/rope_axes_config.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/names.h"

namespace posenc {
namespace {

std::optional<Found<std::vector<int64_t>>> Sections(RopeDraft& rope) {
  for (const absl::string_view key : {"mrope_section", "xdrope_section"}) {
    auto found = rope.block().Integers(key, rope.bad());
    if (!found) found = rope.scope.object.Integers(key, rope.bad());
    if (found) return found;
  }
  const auto& usual = rope.family().sections;
  if (usual[0] == 0) return std::nullopt;
  return Found<std::vector<int64_t>>{{usual.begin(), usual.end()}, rope.block().PathOf("mrope_section"),
                                     rope.scope.DefaultSource(), true};
}

// The family's map; where it has the common one, the file may say that pairs alternate.
AxisMap Map(RopeDraft& rope) {
  if (rope.scaling_type == "openpangu") return AxisMap::kBalanced;
  const AxisMap usual = rope.family().axis_map;
  const auto flag = rope.block().Flag("mrope_interleaved", rope.bad());
  if (!flag || usual != AxisMap::kContiguous) {
    rope.draft.Rule("rope.axes.map", std::string(NameOf(usual)),
                    absl::StrCat("rotation of ", rope.family().class_name));
    return usual;
  }
  const AxisMap map = flag->value ? AxisMap::kInterleaved : AxisMap::kContiguous;
  rope.draft.Note("rope.axes.map", std::string(NameOf(map)), {"", flag->path, flag->path, false});
  return map;
}

}  // namespace

void ReadRopeAxes(RopeDraft& rope) {
  const auto sections = Sections(rope);
  if (!sections) return;
  RopeAxes axes;
  axes.sections = rope.draft.Take("rope.axes.sections", *sections);
  // Sections that the file writes down must have an axis each; an empty list is a mistake, not one axis.
  if (axes.sections.size() < 2 || axes.sections.size() > static_cast<size_t>(limits::kMaxAxes)) {
    rope.bad().AddText(sections->path, absl::StrCat("has ", axes.sections.size(),
                                                    " entries; allowed: 2 to ", limits::kMaxAxes,
                                                    ", pairs of each axis"));
    return;
  }
  if (rope.family().sections_end_with_time && !sections->defaulted) {
    std::rotate(axes.sections.rbegin(), axes.sections.rbegin() + 1, axes.sections.rend());
    rope.reading.Note(absl::StrCat(sections->path, " lists height, width and time; the spec has time first"));
  }
  axes.map = Map(rope);
  axes.leftovers_on_first = axes.map == AxisMap::kInterleaved;
  rope.spec.axes = std::move(axes);
}

}  // namespace posenc

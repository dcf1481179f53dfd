#include "client/python/binding/family_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/python/binding/keywords.h"
#include "server/core/specs/field.h"

namespace posenc::python {

std::string FamilyText(const std::string& family, const std::string& returned) {
  FamilySpec spec;
  VisitAlternative<FamilySpec>(family, [&](auto&& standard) { spec = standard; });
  std::string text = absl::StrCat("Returns the ", returned, " that the keywords ask for.\n\n");
  for (const Keyword& keyword : KeywordsOf(spec)) {
    absl::StrAppend(&text, keyword.name);
    if (!keyword.standard.is_none()) {
      absl::StrAppend(&text, "=", pybind11::repr(keyword.standard).cast<std::string>());
    }
    absl::StrAppend(&text, ": ", keyword.type, "\n    ", keyword.help);
    if (keyword.required) absl::StrAppend(&text, " (required)");
    if (!keyword.alternatives.empty()) {
      absl::StrAppend(&text, " (with ", absl::StrJoin(keyword.alternatives, ", "), ")");
    }
    absl::StrAppend(&text, "\n");
  }
  absl::StrAppend(&text, "dtype=None: str, NumPy or torch dtype\n",
                  "    F64, F32, F16, BF16, I32 in any usual spelling; None: what the family has by itself\n",
                  "arithmetic='exact': str\n    How values are computed: exact, or as PyTorch models do\n");
  if (returned == "Table") absl::StrAppend(&text, "timeout=None: float\n    Seconds of the call\n");
  absl::StrAppend(&text, "\nErrors: WrongArgument for keywords that are not there",
                  returned == "Table" ? ", InvalidArgument for values out of range." : ".");
  return text;
}

}  // namespace posenc::python

// What keywords a family has, for messages, docstrings and stubs: made from the description of its fields.
//
// Threads: keywords are Python objects; the calling thread holds the GIL.

#ifndef POSENC_CLIENT_PYTHON_BINDING_KEYWORDS_H_
#define POSENC_CLIENT_PYTHON_BINDING_KEYWORDS_H_

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "client/python/binding/python_values.h"
#include "posenc/specs.h"
#include "pybind11/pybind11.h"
#include "server/core/specs/field.h"

namespace posenc::python {

struct Keyword {
  std::string name = {};
  std::string type = {};  // as an annotation: "int", "Optional[float]", "Literal['a', 'b']"
  std::string help = {};
  pybind11::object standard = pybind11::none();  // None where there is none
  bool required = false;
  std::vector<std::string> alternatives = {};  // of a variant, that have it: "scaling='yarn'"; empty: always
};

template <typename Variant>
inline constexpr bool kMayBeNone = std::is_same_v<std::variant_alternative_t<0, Variant>, std::monostate>;

// Returns the names of a variant's alternatives, as its keyword takes them.
template <typename Variant>
std::vector<std::string> AlternativeNames() {
  std::vector<std::string> names;
  if constexpr (kMayBeNone<Variant>) names.push_back("none");
  ForEachAlternative<Variant>([&](const auto& alternative) { names.push_back(Dashed(alternative.kName)); });
  return names;
}

// All of a family's, in the order of its fields; those that several alternatives have once.
std::vector<Keyword> KeywordsOf(const FamilySpec& family);

// Returns what a wrong keyword could have been: the alternatives that it belongs to, else all keywords.
std::string AllowedKeywords(const FamilySpec& family, const std::string& wrong);

// The same as a list of dicts, by the family's name; for the package's own use.
pybind11::list KeywordDicts(const std::string& family);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_KEYWORDS_H_

#include "server/core/names.h"

#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace posenc {
namespace {

// Names by value, starting with value 1. One specialisation for each enum.
template <typename Enum>
struct NamesOf;

template <>
struct NamesOf<SinusoidalOrder> {
  static constexpr std::array<absl::string_view, 3> kNames = {"interleaved", "sin-cos", "cos-sin"};
};
template <>
struct NamesOf<OddWidth> {
  static constexpr std::array<absl::string_view, 4> kNames = {"reject", "zero-column", "extra-sine",
                                                              "drop-cosine"};
};
template <>
struct NamesOf<RopeLayout> {
  static constexpr std::array<absl::string_view, 15> kNames = {
      "split-half",   "split-duplicated", "split-repeated",   "cos-sin", "cos-sin-duplicated",
      "sin-cos",      "sin-cos-repeated", "pairs",            "pairs-duplicated",
      "complex",      "angles",           "angles-duplicated", "angles-repeated",
      "frequencies",  "periods"};
};
template <>
struct NamesOf<AlibiSlopeRule> {
  static constexpr std::array<absl::string_view, 2> kNames = {"paper", "geometric"};
};
template <>
struct NamesOf<AlibiForm> {
  static constexpr std::array<absl::string_view, 3> kNames = {"causal", "symmetric", "slopes"};
};
template <>
struct NamesOf<Arithmetic> {
  static constexpr std::array<absl::string_view, 1> kNames = {"exact"};
};

template <typename Enum>
absl::string_view Lookup(Enum value) {
  return NamesOf<Enum>::kNames[static_cast<size_t>(value) - 1];
}

}  // namespace

absl::string_view NameOf(SinusoidalOrder order) { return Lookup(order); }
absl::string_view NameOf(OddWidth rule) { return Lookup(rule); }
absl::string_view NameOf(RopeLayout layout) { return Lookup(layout); }
absl::string_view NameOf(AlibiSlopeRule rule) { return Lookup(rule); }
absl::string_view NameOf(AlibiForm form) { return Lookup(form); }
absl::string_view NameOf(Arithmetic arithmetic) { return Lookup(arithmetic); }

absl::string_view FamilyName(const FamilySpec& family) {
  constexpr std::array<absl::string_view, 3> kFamilies = {"sinusoidal", "rope", "alibi"};
  static_assert(std::variant_size_v<FamilySpec> == kFamilies.size());
  return kFamilies[family.index()];
}

template <typename Enum>
std::vector<absl::string_view> AllNames() {
  const auto& names = NamesOf<Enum>::kNames;
  return {names.begin(), names.end()};
}

template <typename Enum>
absl::StatusOr<Enum> ParseName(absl::string_view name) {
  const std::string wanted = absl::StrReplaceAll(absl::AsciiStrToLower(name), {{"_", "-"}});
  const auto& names = NamesOf<Enum>::kNames;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return static_cast<Enum>(i + 1);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", wanted, "' is unknown; allowed: ", absl::StrJoin(names, ", ")));
}

#define POSENC_INSTANTIATE(Enum)                              \
  template std::vector<absl::string_view> AllNames<Enum>();   \
  template absl::StatusOr<Enum> ParseName<Enum>(absl::string_view)
POSENC_INSTANTIATE(SinusoidalOrder);
POSENC_INSTANTIATE(OddWidth);
POSENC_INSTANTIATE(RopeLayout);
POSENC_INSTANTIATE(AlibiSlopeRule);
POSENC_INSTANTIATE(AlibiForm);
POSENC_INSTANTIATE(Arithmetic);
#undef POSENC_INSTANTIATE

}  // namespace posenc

#include "server/core/table_key.h"

#include <functional>
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

// The texts are the key's definition, and the digests were made from them with sha256sum: a change of
// either is a new version of the format.
struct Pinned {
  TableSpec spec;
  const char* text;
  const char* key;
};

constexpr char kSinusoidal[] =
    "posenc.table/1\n"
    "family=sinusoidal\n"
    "element_type=F32\n"
    "arithmetic=exact\n"
    "d_model=512\n"
    "max_len=5000\n"
    "base=0x1.388p+13\n"
    "order=interleaved\n"
    "frequency_shift=0x0p+0\n"
    "odd_width=reject\n"
    "clamp_denominator=0\n"
    "first_position=0\n"
    "zero_row=none\n"
    "position_scale=0x1p+0\n"
    "row_scale=0x1p+0\n";

constexpr char kLlama31[] =
    "posenc.table/1\n"
    "family=rope\n"
    "element_type=BF16\n"
    "arithmetic=exact\n"
    "head_dim=128\n"
    "rotary_dim=128\n"
    "max_len=131072\n"
    "base=0x1.e848p+18\n"
    "scaling=llama3\n"
    "factor=0x1p+3\n"
    "low_freq_factor=0x1p+0\n"
    "high_freq_factor=0x1p+2\n"
    "original_max_len=8192\n"
    "layout=split-duplicated\n"
    "first_position=0\n";

constexpr char kFrequencies[] =
    "posenc.table/1\n"
    "family=rope\n"
    "element_type=F64\n"
    "arithmetic=exact\n"
    "head_dim=8\n"
    "rotary_dim=4\n"
    "max_len=100\n"
    "base=0x1.388p+13\n"
    "scaling=frequencies\n"
    "inverse_frequencies=0x1p+0,0x1.999999999999ap-4\n"
    "layout=split-half\n"
    "first_position=-5\n";

constexpr char kAlibi[] =
    "posenc.table/1\n"
    "family=alibi\n"
    "element_type=F16\n"
    "arithmetic=exact\n"
    "heads=12\n"
    "max_len=2048\n"
    "bias_max=0x1p+3\n"
    "slope_rule=geometric\n"
    "form=causal\n"
    "masked=1\n";

std::vector<Pinned> PinnedTables() {
  return {
      {{.family = SinusoidalSpec{.d_model = 512}},
       kSinusoidal,
       "46e89ade6644d939cbd8e7fc0f782de84ba932df05fe19a573847170963118c0"},
      {{.family = RopeSpec{.head_dim = 128,
                           .max_len = 131072,
                           .base = 500000,
                           .scaling = Llama3Scaling(),
                           .layout = RopeLayout::kSplitDuplicated},
        .element_type = ElementType::kBF16},
       kLlama31,
       "36b8bb3f4c6ca797cb23c71792f84e74851d813cd5103f4a7fed2892c441519e"},
      {{.family = RopeSpec{.head_dim = 8,
                           .rotary_dim = 4,
                           .max_len = 100,
                           .base = 7,
                           .scaling = ExplicitFrequencies{{1, 0.1}},
                           .first_position = -5},
        .element_type = ElementType::kF64},
       kFrequencies,
       "8f7995a661dd2ab034c4c6a827aa2ceac8e14510c6feaa347388c54558c00280"},
      {{.family = AlibiSpec{.heads = 12,
                            .max_len = 2048,
                            .slope_rule = AlibiSlopeRule::kGeometric,
                            .masked = true},
        .element_type = ElementType::kF16},
       kAlibi,
       "d1c13368bb2faea4ba6f9ac80c167963e7d0188c62921bda0fd0a2e0e7af5c3b"},
  };
}

std::string HexKey(const TableSpec& spec) {
  const absl::StatusOr<TableSpec> normalized = Normalize(spec);
  EXPECT_OK(normalized);
  return normalized.ok() ? KeyOf(*normalized).ToHex() : "";
}

TEST(TableKeyTest, CanonicalTextAndKeyAreThePinnedOnes) {
  for (const Pinned& pinned : PinnedTables()) {
    const absl::StatusOr<TableSpec> normalized = Normalize(pinned.spec);
    ASSERT_OK(normalized);
    EXPECT_EQ(CanonicalText(*normalized), pinned.text);
    EXPECT_EQ(KeyOf(*normalized).ToHex(), pinned.key);
  }
}

TEST(TableKeyTest, TwoSpellingsOfOneTableHaveOneKey) {
  const std::vector<std::pair<TableSpec, TableSpec>> cases = {
      {{.family = RopeSpec{.head_dim = 64}},
       {.family = RopeSpec{.head_dim = 64, .rotary_dim = 64}}},
      {{.family = RopeSpec{.head_dim = 64}},
       {.family = RopeSpec{.head_dim = 64, .scaling = LinearScaling{1}}}},
      {{.family = RopeSpec{.head_dim = 64}},
       {.family = RopeSpec{.head_dim = 64, .scaling = Llama3Scaling{.factor = 1}}}},
      {{.family = RopeSpec{.head_dim = 2, .scaling = ExplicitFrequencies{{1}}}},
       {.family = RopeSpec{.head_dim = 2, .base = 5, .scaling = ExplicitFrequencies{{1}}}}},
      {{.family = RopeSpec{.head_dim = 2, .layout = RopeLayout::kFrequencies}},
       {.family = RopeSpec{.head_dim = 2, .max_len = 9, .layout = RopeLayout::kFrequencies}}},
      {{.family = SinusoidalSpec{.d_model = 7, .order = SinusoidalOrder::kSinCos}},
       {.family = SinusoidalSpec{.d_model = 7,
                                 .order = SinusoidalOrder::kSinCos,
                                 .odd_width = OddWidth::kExtraSine}}},
      {{.family = SinusoidalSpec{.d_model = 8}},
       {.family = SinusoidalSpec{.d_model = 8, .zero_row = 5000}}},
      {{.family = AlibiSpec{.heads = 8}},
       {.family = AlibiSpec{.heads = 8, .slope_rule = AlibiSlopeRule::kGeometric}}},
  };
  for (const auto& [one, other] : cases) EXPECT_EQ(HexKey(one), HexKey(other));
}

// Applies every change to a copy of its own and expects all keys to differ.
template <typename Spec>
void ExpectAllDiffer(const Spec& start, const std::vector<std::function<void(Spec&)>>& changes) {
  std::map<std::string, size_t> seen = {{HexKey({.family = start}), 0}};
  for (size_t i = 0; i < changes.size(); ++i) {
    Spec changed = start;
    changes[i](changed);
    const auto [at, is_new] = seen.emplace(HexKey({.family = changed}), i + 1);
    EXPECT_TRUE(is_new) << "changes " << at->second << " and " << i + 1 << " have one key";
  }
}

TEST(TableKeyTest, EverySinusoidalFieldChangesTheKey) {
  ExpectAllDiffer<SinusoidalSpec>(
      {.d_model = 7, .order = SinusoidalOrder::kSinCos},
      {[](auto& s) { s.d_model = 9; }, [](auto& s) { s.max_len = 4999; },
       [](auto& s) { s.base = 10001; }, [](auto& s) { s.order = SinusoidalOrder::kCosSin; },
       [](auto& s) { s.frequency_shift = 1; }, [](auto& s) { s.frequency_shift = 0.5; },
       [](auto& s) { s.odd_width = OddWidth::kZeroColumn; },
       [](auto& s) { s.odd_width = OddWidth::kDropCosine; },
       [](auto& s) { s.first_position = 1; }, [](auto& s) { s.zero_row = 0; },
       [](auto& s) { s.zero_row = 1; }, [](auto& s) { s.position_scale = 2; },
       [](auto& s) { s.row_scale = 2; },
       [](auto& s) { s.frequency_shift = 2.5, s.clamp_denominator = true; },
       [](auto& s) { s.frequency_shift = 2.5; }});
}

TEST(TableKeyTest, EveryRopeFieldChangesTheKey) {
  ExpectAllDiffer<RopeSpec>(
      {.head_dim = 8},
      {[](auto& s) { s.head_dim = 10; }, [](auto& s) { s.rotary_dim = 4; },
       [](auto& s) { s.max_len = 1; }, [](auto& s) { s.base = 20000; },
       [](auto& s) { s.layout = RopeLayout::kCosSin; }, [](auto& s) { s.first_position = -1; },
       [](auto& s) { s.scaling = LinearScaling{2}; }, [](auto& s) { s.scaling = LinearScaling{3}; },
       [](auto& s) { s.scaling = Llama3Scaling(); },
       [](auto& s) { s.scaling = Llama3Scaling{.factor = 9}; },
       [](auto& s) { s.scaling = Llama3Scaling{.low_freq_factor = 2}; },
       [](auto& s) { s.scaling = Llama3Scaling{.high_freq_factor = 5}; },
       [](auto& s) { s.scaling = Llama3Scaling{.original_max_len = 4096}; },
       [](auto& s) { s.scaling = ExplicitFrequencies{{1, 2, 3, 4}}; },
       [](auto& s) { s.scaling = ExplicitFrequencies{{1, 2, 3, 5}}; }});
}

TEST(TableKeyTest, EveryAlibiFieldChangesTheKey) {
  ExpectAllDiffer<AlibiSpec>(
      {.heads = 12},
      {[](auto& s) { s.heads = 13; }, [](auto& s) { s.max_len = 4; },
       [](auto& s) { s.bias_max = 16; }, [](auto& s) { s.masked = true; },
       [](auto& s) { s.slope_rule = AlibiSlopeRule::kGeometric; },
       [](auto& s) { s.form = AlibiForm::kSymmetric; },
       [](auto& s) { s.form = AlibiForm::kSlopes; }});
}

TEST(TableKeyTest, ElementTypesAndFamiliesHaveTheirOwnKeys) {
  std::set<std::string> keys = {HexKey({.family = SinusoidalSpec{.d_model = 8}})};
  for (ElementType type : {ElementType::kF64, ElementType::kF16, ElementType::kBF16}) {
    keys.insert(HexKey({.family = SinusoidalSpec{.d_model = 8}, .element_type = type}));
  }
  keys.insert(HexKey({.family = RopeSpec{.head_dim = 8}}));
  keys.insert(HexKey({.family = AlibiSpec{.heads = 8}}));
  EXPECT_EQ(keys.size(), 6u);
}

TEST(TableKeyTest, HexRoundTrips) {
  const std::string hex = HexKey({.family = RopeSpec{.head_dim = 8}});
  ASSERT_OK(TableKey::FromHex(hex));
  EXPECT_EQ(TableKey::FromHex(hex)->ToHex(), hex);
}

TEST(TableKeyTest, FromHexRefusesEverythingElse) {
  const std::vector<std::string> cases = {
      "", "00", std::string(63, '0'), std::string(65, '0'), std::string(63, '0') + "g",
      std::string(63, '0') + "\xff", std::string(1000, 'a')};
  for (const std::string& text : cases) {
    EXPECT_THAT(TableKey::FromHex(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                                  ::testing::HasSubstr("64 hex digits")));
  }
}

}  // namespace
}  // namespace posenc

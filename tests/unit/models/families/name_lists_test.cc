// Every name that transformers, llama.cpp and mlx-lm have, and those of families with code of their own, is held
// against our lists: served, without a positional table, a part of another, or not served with a reason.
// server/models/README.md states how many of each.

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/families/model_families.h"
#include "server/models/gguf/gguf_architectures.h"
#include "server/models/parts/vision_models.h"
#include "server/models/runtimes/llama_cpp_names.h"
#include "server/models/runtimes/mlx_models.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

struct Name {
  std::string name;
  std::string group;
  std::string detail;
  std::string rope;  // llama.cpp's alone
};

std::string ReadText(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<Name> ReadNames(const std::string& list) {
  std::vector<Name> names;
  const std::string text = ReadText(absl::StrCat(POSENC_TEST_SOURCE_DIR, "/unit/models/names/", list, ".tsv"));
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "#")) continue;
    std::vector<std::string> cells = absl::StrSplit(line, '\t');
    cells.resize(4);
    names.push_back({cells[0], cells[1], cells[2], cells[3]});
  }
  return names;
}

// What our lists of families and of vision models make of a name.
std::string GroupOf(const std::string& name) {
  const ModelFamily* family = FindFamily(name);
  const VisionModel* vision = FindVisionModel(name);
  if (vision != nullptr && vision->rule != VisionRule::kNone) return "served";
  if (family == nullptr) return "unknown";
  if (family->rule == PositionRule::kNone) return "none";
  return family->rule == PositionRule::kInParts ? "part" : "served";
}

class NameListTest : public ::testing::TestWithParam<std::string> {};

TEST_P(NameListTest, NamesAreUniqueAndInAGroup) {
  std::set<std::string> seen;
  for (const Name& name : ReadNames(GetParam())) {
    EXPECT_TRUE(seen.insert(name.name).second) << name.name;
    EXPECT_THAT(name.group, ::testing::AnyOf("served", "none", "part", "unserved")) << name.name;
    EXPECT_TRUE(name.group != "unserved" || !name.detail.empty()) << name.name << " has no reason";
  }
  EXPECT_FALSE(seen.empty());
}

TEST_P(NameListTest, TheReadmeStatesHowManyOfEach) {
  std::map<std::string, int> counts;
  for (const Name& name : ReadNames(GetParam())) ++counts[name.group];
  const std::string readme = ReadText(absl::StrCat(POSENC_TEST_SOURCE_DIR, "/../server/models/README.md"));
  const int all = counts["served"] + counts["none"] + counts["part"] + counts["unserved"];
  EXPECT_THAT(readme, HasSubstr(absl::StrCat("| ", GetParam(), ".tsv | ", all, " | ", counts["served"], " | ",
                                             counts["none"], " | ", counts["part"], " | ", counts["unserved"], " |")));
}

INSTANTIATE_TEST_SUITE_P(All, NameListTest, ::testing::Values("transformers", "llama_cpp", "mlx_lm", "remote"),
                         [](const auto& info) { return info.param; });

// Families of transformers, of mlx-lm and of other code: a name is served exactly where the list says so.
TEST(ModelNamesTest, OurListsAreWhatTheNamesSay) {
  for (const std::string list : {"transformers", "mlx_lm", "remote"}) {
    for (const Name& name : ReadNames(list)) {
      const std::string ours = GroupOf(name.name);
      SCOPED_TRACE(absl::StrCat(list, " ", name.name));
      if (name.group == "served") {
        EXPECT_EQ(ours, "served");
      } else {
        EXPECT_NE(ours, "served");
      }
      if (ours == "none" || ours == "part") {
        EXPECT_EQ(ours, name.group);
      }
    }
  }
}

TEST(ModelNamesTest, EveryArchitectureOfLlamaCppHasItsRopeType) {
  const std::map<GgmlRope, std::string> kTypes = {{GgmlRope::kNone, "NONE"},
                                                  {GgmlRope::kNorm, "NORM"},
                                                  {GgmlRope::kNeox, "NEOX"},
                                                  {GgmlRope::kMrope, "MROPE"},
                                                  {GgmlRope::kInterleaved, "IMROPE"}};
  // Their graphs do not do what the switch says: the two have learned positions, the third pairs halves.
  const std::set<std::string> kOwnGraphs = {"bert", "starcoder", "deepseek2-ocr"};
  for (const Name& name : ReadNames("llama_cpp")) {
    SCOPED_TRACE(name.name);
    const GgufArchitecture* row = FindArchitecture(name.name);
    ASSERT_NE(row, nullptr);
    if (kOwnGraphs.contains(name.name)) continue;
    // Some have sections where the file says so, and another type otherwise.
    const std::string type = absl::StrContains(name.rope, "NORM :") ? "NEOX" : kTypes.at(row->rope);
    EXPECT_TRUE(name.rope == type || absl::EndsWith(name.rope, absl::StrCat(": ", type))) << name.rope;
  }
  EXPECT_EQ(AllArchitectures().size(), ReadNames("llama_cpp").size());
}

TEST(ModelNamesTest, ConvertersPairAsTheirArchitecture) {
  for (const LlamaCppName& name : AllLlamaCppNames()) {
    SCOPED_TRACE(name.model_type);
    const GgufArchitecture* row = FindArchitecture(name.architecture);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(name.interleaved, row->rope == GgmlRope::kNorm);
    EXPECT_NE(FindFamily(name.model_type), nullptr);
  }
}

TEST(ModelNamesTest, EveryModelFileOfMlxHasItsRule) {
  for (const Name& name : ReadNames("mlx_lm")) EXPECT_NE(FindMlxModel(name.name), nullptr) << name.name;
}

}  // namespace
}  // namespace posenc

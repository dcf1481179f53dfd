#include "server/models/model_families.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

std::string MinimalConfig(const ModelFamily& family) {
  return absl::StrCat("{\"model_type\":\"", family.model_type, "\"}");
}

TEST(ModelFamiliesTest, RowsAreUniqueAndNamed) {
  std::set<std::string> types;
  for (const ModelFamily* family : AllFamilies()) {
    EXPECT_TRUE(types.insert(std::string(family->model_type)).second) << family->model_type;
    EXPECT_FALSE(family->class_name.empty()) << family->model_type;
  }
}

TEST(ModelFamiliesTest, EveryRowIsFoundByItsName) {
  for (const ModelFamily* family : AllFamilies()) {
    EXPECT_EQ(FindFamily(family->model_type), family);
  }
  EXPECT_EQ(FindFamily("no_such_family"), nullptr);
  EXPECT_EQ(FindFamily(""), nullptr);
}

TEST(ModelFamiliesTest, TextModelsShareTheRowOfTheirName) {
  EXPECT_EQ(FindFamily("gemma3_text"), FindFamily("gemma3"));
  EXPECT_EQ(FindFamily("mllama_text_model"), FindFamily("mllama"));
}

// The field that an answer to a file with the model_type alone would name; empty for a table. Some classes
// have no default widths.
std::string FieldThatHinders(const ModelFamily& family) {
  const bool no_width = family.head_dim == 0 && family.hidden_size == 0;
  if (family.rule == PositionRule::kRope && no_width) return "hidden_size";
  if (family.rule == PositionRule::kAlibi && family.heads == 0) return "num_attention_heads";
  if (family.hidden_size % std::max<int64_t>(family.heads, 1) != 0 && family.head_dim == 0) return "hidden_size";
  return "";
}

// A row with wrong defaults would fail here: a class's own defaults make a valid model.
TEST(ModelFamiliesTest, EveryRowAnswersAFileWithoutKeys) {
  for (const ModelFamily* family : AllFamilies()) {
    SCOPED_TRACE(family->model_type);
    const auto model = ResolveModelConfig(MinimalConfig(*family));
    const std::string field = FieldThatHinders(*family);
    if (field.empty()) {
      EXPECT_OK(model);
    } else {
      EXPECT_THAT(model, ViolatesField(field));
    }
  }
}

}  // namespace
}  // namespace posenc

#include "server/models/model_families.h"

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
  for (const ModelFamily& family : AllFamilies()) {
    EXPECT_TRUE(types.insert(std::string(family.model_type)).second) << family.model_type;
    EXPECT_FALSE(family.class_name.empty()) << family.model_type;
  }
}

TEST(ModelFamiliesTest, EveryRowIsFoundByItsName) {
  for (const ModelFamily& family : AllFamilies()) {
    EXPECT_EQ(FindFamily(family.model_type), &family);
  }
  EXPECT_EQ(FindFamily("no_such_family"), nullptr);
  EXPECT_EQ(FindFamily(""), nullptr);
}

TEST(ModelFamiliesTest, TextModelsShareTheRowOfTheirName) {
  EXPECT_EQ(FindFamily("gemma3_text"), FindFamily("gemma3"));
  EXPECT_EQ(FindFamily("mllama_text_model"), FindFamily("mllama"));
}

// What a row says of a file without other keys, as the field that such an answer would name.
std::string FieldThatHinders(const ModelFamily& family) {
  const bool weights = family.rule == PositionRule::kLearned || family.rule == PositionRule::kRelativeBuckets;
  if (weights) return "model_type";
  if (family.rule == PositionRule::kRope && family.head_dim == 0 && family.hidden_size == 0) return "hidden_size";
  if (family.default_scaling == "llama3") return "rope_scaling.factor";
  return family.default_scaling.empty() ? "" : "rope_scaling.rope_type";
}

// A row with wrong defaults would fail here: a class's own defaults make a valid model.
TEST(ModelFamiliesTest, EveryRowAnswersAFileWithoutKeys) {
  for (const ModelFamily& family : AllFamilies()) {
    SCOPED_TRACE(family.model_type);
    const auto model = ResolveModelConfig(MinimalConfig(family));
    const std::string field = FieldThatHinders(family);
    if (field.empty()) {
      EXPECT_OK(model);
    } else {
      EXPECT_THAT(model, ViolatesField(field));
    }
  }
}

}  // namespace
}  // namespace posenc

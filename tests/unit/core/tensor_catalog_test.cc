#include "server/core/tensor_catalog.h"

#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

const std::string kDigest(64, 'a');

TensorCatalog CatalogOf(const std::string& name) {
  TensorCatalog catalog;
  EXPECT_OK(catalog.Add(name, {.element_type = ElementType::kBF16, .shape = {3, 4},
                               .content_sha256 = kDigest, .source = "a.npy"}));
  return catalog;
}

TableSpec LearnedTable(const std::string& name, const std::string& digest = "") {
  return *Normalize({.family = LearnedSpec{.name = name, .content_sha256 = digest}});
}

TEST(TensorCatalogTest, NamesAreTakenOnce) {
  TensorCatalog catalog = CatalogOf("wpe");
  EXPECT_THAT(catalog.Add("wpe", {}), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("a.npy")));
  EXPECT_THAT(catalog.Add("", {}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("name")));
}

TEST(TensorCatalogTest, UnknownNameIsNotFoundAndTheOthersAreNamed) {
  const auto found = CatalogOf("wpe").Find("wte", "learned.name");
  EXPECT_THAT(found, StatusIs(absl::StatusCode::kNotFound, HasSubstr("wpe")));
  EXPECT_THAT(found, ViolatesField("learned.name"));
  EXPECT_THAT(EmptyCatalog().Find("wte", "f"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("--learned")));
}

TEST(BindTensorsTest, StoredTypeAndDigestAreFilledIn) {
  TableSpec spec = LearnedTable("wpe");
  EXPECT_EQ(spec.element_type, ElementType::kUnspecified);
  ASSERT_OK(BindTensors(CatalogOf("wpe"), spec));
  EXPECT_EQ(spec.element_type, ElementType::kBF16);
  EXPECT_EQ(std::get<LearnedSpec>(spec.family).content_sha256, kDigest);
}

TEST(BindTensorsTest, AnotherDigestIsRefused) {
  TableSpec spec = LearnedTable("wpe", std::string(64, 'b'));
  EXPECT_THAT(BindTensors(CatalogOf("wpe"), spec),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(kDigest)));
}

TEST(BindTensorsTest, WeightOfABiasIsBoundAndMapsNeedNone) {
  TableSpec map = *Normalize({.family = RelativeBucketSpec()});
  ASSERT_OK(BindTensors(EmptyCatalog(), map));
  EXPECT_EQ(map.element_type, ElementType::kI32);
  TableSpec bias = *Normalize({.family = RelativeBucketSpec{.weight = "rel"}});
  EXPECT_THAT(BindTensors(EmptyCatalog(), bias), ViolatesField("relative_bucket.weight"));
  ASSERT_OK(BindTensors(CatalogOf("rel"), bias));
  EXPECT_EQ(bias.element_type, ElementType::kF32);
  EXPECT_EQ(std::get<RelativeBucketSpec>(bias.family).weight_sha256, kDigest);
}

}  // namespace
}  // namespace posenc

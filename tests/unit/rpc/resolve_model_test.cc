#include <string>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class ResolveModelTest : public RpcTest {};

constexpr char kLlama[] = R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
  "max_position_embeddings": 8192, "rope_theta": 500000.0})";

TEST_F(ResolveModelTest, ReturnsTheTablesOfAModel) {
  const auto model = ResolveModel(kLlama);
  ASSERT_OK(model);
  EXPECT_EQ(model->model_type(), "llama");
  EXPECT_TRUE(model->known_family());
  ASSERT_THAT(model->tables(), SizeIs(1));
  const v1::ModelTable& table = model->tables(0);
  EXPECT_EQ(table.spec().rope().head_dim(), 128);
  EXPECT_EQ(table.spec().rope().base(), 500000.0);
  EXPECT_EQ(table.pairing(), v1::PAIRING_HALF_SPLIT);
  EXPECT_GT(table.origins_size(), 0);
}

TEST_F(ResolveModelTest, SaysWhichLayersATableIsForAndWhatIsAssumed) {
  const auto model = ResolveModel(
      R"({"model_type": "brand_new", "head_dim": 64, "rope_theta": 7, "no_rope_layers": [1, 1, 0, 1]})");
  ASSERT_OK(model);
  ASSERT_THAT(model->tables(), SizeIs(1));
  EXPECT_THAT(model->tables(0).layers(), ::testing::ElementsAre(0, 1, 3));
  EXPECT_THAT(model->layers_without_table(), ::testing::ElementsAre(2));
  EXPECT_TRUE(model->tables(0).origins(0).assumed());
  EXPECT_EQ(model->tables(0).origins(0).field(), "pairing");
}

TEST_F(ResolveModelTest, ItsSpecIsServedAsItStands) {
  const auto model = ResolveModel(kLlama);
  ASSERT_OK(model);
  EXPECT_OK(GetSlice("spec {" + model->tables(0).spec().ShortDebugString() +
                     "} selection { rows { end: 2 } }"));
}

TEST_F(ResolveModelTest, TextThatIsNoJsonIsRefused) {
  for (const char* text : {"", "{", "[]", "no"}) {
    EXPECT_THAT(ResolveModel(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("config_json is")));
  }
}

TEST_F(ResolveModelTest, ViolationsNameTheConfigsOwnKeys) {
  const auto refused = ResolveModel(
      R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": "x"})");
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rope_theta")));
  EXPECT_THAT(refused, ViolatesField("rope_theta"));
}

TEST_F(ResolveModelTest, ForeignBytesInKeysComeBackEscaped) {
  const auto refused = ResolveModel("{\"model_type\": \"m\xc3\xa4rchen\", \"rope_theta\": \"\xc3\xa4\"}");
  for (const char c : std::string(refused.status().message())) EXPECT_LT(static_cast<unsigned char>(c), 0x7f);
}

}  // namespace
}  // namespace posenc

#include "server/app/config/warm_list.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class WarmListTest : public testing::Test {
 protected:
  WarmListTest() { fs::create_directories(folder_); }
  ~WarmListTest() override { fs::remove_all(folder_); }

  std::string File(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }

 private:
  const fs::path folder_ = fs::path(testing::TempDir()) / absl::StrCat("warm_list_test.", getpid());
};

TEST_F(WarmListTest, TextprotoIsOneNormalisedTable) {
  const auto list = LoadWarmList({File("a.txt", "rope { head_dim: 64 }  element_type: ELEMENT_TYPE_F16")},
                                 ElementType::kF32);
  ASSERT_OK(list);
  ASSERT_THAT(*list, SizeIs(1));
  const TableSpec& spec = (*list)[0].spec;
  EXPECT_EQ(std::get<RopeSpec>(spec.family).rotary_dim, 64);
  EXPECT_EQ(spec.element_type, ElementType::kF16);  // --warm-dtype is for configurations only
}

TEST_F(WarmListTest, ConfigGivesItsTablesInTheTypeAskedFor) {
  const auto list = LoadWarmList(
      {File("config.json", R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
                               "max_position_embeddings": 8192, "rope_theta": 500000.0})")},
      ElementType::kBF16);
  ASSERT_OK(list);
  ASSERT_THAT(*list, SizeIs(1));
  EXPECT_EQ((*list)[0].spec.element_type, ElementType::kBF16);
  EXPECT_EQ(std::get<RopeSpec>((*list)[0].spec.family).base, 500000.0);
  EXPECT_THAT((*list)[0].name, HasSubstr("config.json#"));
}

// Whisper's encoder has sines, its decoder a table among the weights.
TEST_F(WarmListTest, WeightsThatTheServerWasNotGivenAreLeftOut) {
  const std::string whisper = R"({"model_type": "whisper", "d_model": 384, "max_source_positions": 1500})";
  const auto list = LoadWarmList({File("config.json", whisper)}, ElementType::kF32);
  ASSERT_OK(list);
  ASSERT_THAT(*list, SizeIs(1));
  EXPECT_EQ(std::get<SinusoidalSpec>((*list)[0].spec.family).d_model, 384);
  const std::string opt = R"({"model_type": "opt", "hidden_size": 768, "max_position_embeddings": 2048})";
  EXPECT_THAT(LoadWarmList({File("opt.json", opt)}, ElementType::kF32),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--learned")));
}

TEST_F(WarmListTest, FailuresNameTheFileAndTheReason) {
  EXPECT_THAT(LoadWarmList({"/no/such"}, ElementType::kF32),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--warm /no/such")));
  EXPECT_THAT(LoadWarmList({File("bad.txt", "rope {\n  head_dims: 3 }")}, ElementType::kF32),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("bad.txt"), HasSubstr("line 2"), HasSubstr("head_dims"))));
  EXPECT_THAT(LoadWarmList({File("odd.txt", "rope { head_dim: 7 }")}, ElementType::kF32),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("head_dim")));
  EXPECT_THAT(LoadWarmList({File("bad.json", "{")}, ElementType::kF32),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bad.json")));
}

}  // namespace
}  // namespace posenc

#include "client/remote/expected_answer.h"

#include <thread>
#include <vector>

#include "client/local/local_slice.h"
#include "posenc/client.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::HasSubstr;

const std::string kAnyKey(64, 'a');

TEST(ExpectedAnswersTest, AreThoseThatThisProcessWouldGive) {
  ExpectedAnswers answers;
  const std::vector<std::pair<TableRequest, Selection>> requests = {
      {Rope{.head_dim = 64, .max_len = 256}, {}},
      {Rope{.head_dim = 64, .max_len = 256}, {.rows = Range{3, 9}, .columns = Range{1, 4}}},
      {Rope{.head_dim = 64, .max_len = 256}, {.rows = Range{3, 3}}},
      {Sinusoidal{.d_model = 6, .max_len = 10}, {.positions = {7, -1, 7}}},
      {Alibi{.heads = 4, .max_len = 8}, {.rows = Range{1, 3}, .heads = Range{2, 4}}},
  };
  for (int round = 0; round < 2; ++round) {  // the second one of known tables
    for (const auto& [table, selection] : requests) {
      const SliceInfo wanted = LocalSlice::Make(table.spec(), selection)->info();
      const ExpectedAnswer expected = answers.Of(table.spec(), selection);
      ASSERT_TRUE(expected.slice.has_value());
      EXPECT_TRUE(*expected.slice == wanted) << expected.slice->key;
      EXPECT_OK(CheckAnswer(expected, wanted));
    }
  }
}

TEST(ExpectedAnswersTest, KnowNothingOfWhatThisProcessCannotCompute) {
  ExpectedAnswers answers;
  EXPECT_FALSE(answers.Of(TableRequest(Learned{.name = "wpe"}).spec(), {}).slice.has_value());
  EXPECT_FALSE(answers.Of(TableRequest(Rope{.head_dim = 3}).spec(), {}).slice.has_value());
  const TableRequest small = Rope{.head_dim = 64, .max_len = 8};
  EXPECT_FALSE(answers.Of(small.spec(), {.rows = Range{0, 9}}).slice.has_value());
}

TEST(ExpectedAnswersTest, ManyTablesByManyThreads) {
  ExpectedAnswers answers;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int64_t i = 1; i <= 300; ++i) {
        const TableRequest table = Sinusoidal{.d_model = 2, .max_len = i % 100 + 1};
        EXPECT_EQ(answers.Of(table.spec(), {}).slice->row_count, i % 100 + 1);
      }
    });
  }
}

TEST(CheckAnswerTest, StoredTensorsHaveTheRowsAndTheTypeOfTheRequest) {
  ExpectedAnswers answers;
  TableSpec spec = TableRequest(Learned{.name = "wpe"}).spec();
  spec.element_type = ElementType::kF16;
  const auto check = [&](const Selection& selection, TensorInfo tensor) {
    return CheckAnswer(answers.Of(spec, selection), kAnyKey, std::vector{tensor});
  };
  const TensorInfo three{.name = "table", .element_type = ElementType::kF16, .shape = {3, 8}};
  EXPECT_OK(check({}, three));
  EXPECT_OK(check({.positions = {5, 1, 5}}, three));
  EXPECT_OK(check({.rows = Range{4, 7}}, three));
  EXPECT_THAT(check({.positions = {5}}, three), StatusIs(absl::StatusCode::kInternal, HasSubstr("[3, 8]")));
  EXPECT_THAT(check({.rows = Range{4, 9}}, three), StatusIs(absl::StatusCode::kInternal, _));
  EXPECT_THAT(check({.rows = Range{4, 9}}, {.name = "table", .element_type = ElementType::kF16, .shape = {}}),
              StatusIs(absl::StatusCode::kInternal, _));
  EXPECT_THAT(check({}, {.name = "table", .element_type = ElementType::kF32, .shape = {3, 8}}),
              StatusIs(absl::StatusCode::kInternal, _));
}

TEST(CheckAnswerTest, NoAnswerIsWithoutItsForm) {
  const TensorInfo cos{.name = "cos", .element_type = ElementType::kF32, .shape = {3, 8}};
  const TensorInfo nameless{.name = "", .element_type = ElementType::kF32, .shape = {3, 8}};
  TensorInfo longer = cos;
  longer.shape = {4, 8};
  EXPECT_OK(CheckAnswer({}, kAnyKey, std::vector{cos}));
  EXPECT_THAT(CheckAnswer({}, kAnyKey, {}), StatusIs(absl::StatusCode::kInternal, HasSubstr("no tensors")));
  EXPECT_THAT(CheckAnswer({}, kAnyKey, std::vector{nameless}), StatusIs(absl::StatusCode::kInternal, _));
  EXPECT_THAT(CheckAnswer({}, kAnyKey, std::vector{cos, longer}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("two tensors have the name 'cos'")));
  for (const std::string& key : {std::string(), std::string("key"), std::string(64, 'g')}) {
    EXPECT_THAT(CheckAnswer({}, key, std::vector{cos}), StatusIs(absl::StatusCode::kInternal, HasSubstr("table_key")));
  }
}

}  // namespace
}  // namespace posenc

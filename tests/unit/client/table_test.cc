#include "posenc/table.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "posenc/table_builder.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two tensors: "cos" 2 × 3 F32 with 0 … 5, and "half" with one F16.
class TableTest : public ::testing::Test {
 protected:
  static Table Make() {
    auto builder = TableBuilder::Allocate(
        "k", {{.name = "cos", .element_type = ElementType::kF32, .shape = {2, 3}},
              {.name = "half", .element_type = ElementType::kF16, .shape = {1}}});
    const std::array<float, 6> numbers = {0, 1, 2, 3, 4, 5};
    const Half half{0x3c00};
    std::memcpy(builder->data()[0].data(), numbers.data(), sizeof(numbers));
    std::memcpy(builder->data()[1].data(), &half, sizeof(half));
    return (*std::move(builder)).Build();
  }
};

TEST_F(TableTest, GivesTensorsByName) {
  const Table table = Make();
  EXPECT_EQ(table.key(), "k");
  EXPECT_THAT(table.tensor<float>("cos"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(table.tensor<Half>("half"), ElementsAre(Half{0x3c00}));
  EXPECT_THAT(table.shape("cos"), ElementsAre(2, 3));
  EXPECT_EQ(table.size_bytes(), 26);
  EXPECT_EQ(table.element_type(), ElementType::kF32);
}

TEST_F(TableTest, WrongTypeAndWrongNameGiveNothing) {
  const Table table = Make();
  EXPECT_THAT(table.tensor<double>("cos"), IsEmpty());
  EXPECT_THAT(table.tensor<float>("sin"), IsEmpty());
  EXPECT_THAT(table.bytes("sin"), IsEmpty());
  EXPECT_THAT(table.shape("sin"), IsEmpty());
  EXPECT_THAT(table.FindTensor<float>("sin"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cos, half")));
  EXPECT_THAT(table.FindTensor<float>("half"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("F16")));
}

TEST_F(TableTest, EveryTensorIsAlignedTo64Bytes) {
  const Table table = Make();
  for (const TensorInfo& tensor : table.tensors()) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(table.bytes(tensor.name).data()) % 64, 0) << tensor.name;
  }
}

TEST_F(TableTest, CopiesShareTheNumbers) {
  std::span<const float> numbers;
  Table copy;
  {
    const Table table = Make();
    copy = table;
    numbers = table.tensor<float>("cos");
  }
  EXPECT_EQ(copy.tensor<float>("cos").data(), numbers.data());
  EXPECT_EQ(numbers[5], 5);
}

TEST_F(TableTest, EmptyTableAnswersEverything) {
  const Table table;
  EXPECT_EQ(table.size_bytes(), 0);
  EXPECT_THAT(table.tensors(), IsEmpty());
  EXPECT_THAT(table.tensor<float>("cos"), IsEmpty());
}

absl::Status AllocateShape(std::vector<int64_t> shape, uint64_t max_bytes = UINT64_MAX) {
  return TableBuilder::Allocate("k", {{.name = "t", .shape = std::move(shape)}}, max_bytes).status();
}

TEST(TableBuilderTest, RefusesShapesThatAreNone) {
  EXPECT_THAT(AllocateShape({2, -1}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'t'")));
  EXPECT_THAT(AllocateShape({int64_t{1} << 40, int64_t{1} << 40}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("'t'")));
}

TEST(TableBuilderTest, RefusesMoreThanIsAllowed) {
  EXPECT_OK(AllocateShape({4}, 16));
  EXPECT_THAT(AllocateShape({5}, 16), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("16")));
}

TEST(TableBuilderTest, TakesEmptyTensors) { EXPECT_OK(AllocateShape({0, 7})); }

TEST(HalfTest, ConvertsEveryKindOfNumber) {
  EXPECT_EQ(static_cast<float>(Half{0x3c00}), 1.0f);
  EXPECT_EQ(static_cast<float>(Half{0xc000}), -2.0f);
  EXPECT_EQ(static_cast<float>(Half{0x0001}), std::ldexp(1.0f, -24));
  EXPECT_EQ(static_cast<float>(Half{0x7bff}), 65504.0f);
  EXPECT_EQ(static_cast<float>(Half{0xfc00}), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(static_cast<float>(Half{0x7e00})));
  EXPECT_TRUE(std::signbit(static_cast<float>(Half{0x8000})));
}

TEST(BFloat16Test, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(static_cast<float>(BFloat16{0x3f80}), 1.0f);
  EXPECT_EQ(static_cast<float>(BFloat16{0xff80}), -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace posenc

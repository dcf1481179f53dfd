#include <algorithm>
#include <cstring>
#include <limits>

#include "client/local/estimate.h"
#include "posenc/client.h"
#include "server/core/specs/normalize.h"
#include "server/core/table_key.h"
#include "server/encodings/table_generator.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class LocalConnectionTest : public ::testing::Test {
 protected:
  // The rows of one tensor, straight from the generator.
  static std::vector<float> Generated(const TableSpec& spec, size_t tensor, int64_t begin, int64_t end) {
    const auto generator = *MakeTableGenerator(*Normalize(spec));
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::byte*> out;
    for (const TensorShape& shape : generator->shape().tensors) {
      out.push_back(memory.emplace_back((end - begin) * shape.row_bytes()).data());
    }
    generator->Generate(begin, end - begin, out);
    std::vector<float> numbers(memory[tensor].size() / sizeof(float));
    std::memcpy(numbers.data(), memory[tensor].data(), memory[tensor].size());
    return numbers;
  }

  Client client_{MakeLocalConnection()};
  const Rope rope_{.head_dim = 8, .max_len = 1000};
  const Alibi alibi_{.heads = 4, .max_len = 6, .form = AlibiForm::kSymmetric};
};

TEST_F(LocalConnectionTest, WholeTableIsTheGenerators) {
  const auto table = client_.Get(rope_);
  ASSERT_OK(table);
  EXPECT_THAT(table->tensor<float>("sin"), ::testing::ElementsAreArray(Generated({rope_}, 1, 0, 1000)));
  EXPECT_EQ(table->key(), KeyOf(*Normalize({rope_})).ToHex());
  EXPECT_THAT(table->shape("sin"), ElementsAre(1000, 4));
}

TEST_F(LocalConnectionTest, CutsRowsAndColumns) {
  const auto table = client_.Slice(rope_, {.rows = Range{10, 12}, .columns = Range{1, 3}});
  ASSERT_OK(table);
  const std::vector<float> all = Generated({rope_}, 0, 10, 12);
  EXPECT_THAT(table->tensor<float>("cos"), ElementsAre(all[1], all[2], all[5], all[6]));
}

TEST_F(LocalConnectionTest, GathersPositionsInTheirOrder) {
  const auto table = client_.Gather(rope_, {7, 3, 7});
  ASSERT_OK(table);
  const std::vector<float> all = Generated({rope_}, 0, 0, 10);
  const std::span<const float> cos = table->tensor<float>("cos");
  EXPECT_EQ(cos[0], all[28]);
  EXPECT_EQ(cos[4], all[12]);
  EXPECT_EQ(cos[8], all[28]);
}

TEST_F(LocalConnectionTest, GatherOfNothingIsRefused) {
  EXPECT_THAT(client_.Gather(rope_, {}), ViolatesField("selection.positions"));
}

TEST_F(LocalConnectionTest, CutsABiasByHeadsQueriesAndKeys) {
  const auto table =
      client_.Slice(alibi_, {.rows = Range{2, 4}, .heads = Range{1, 3}, .keys = Range{0, 2}});
  ASSERT_OK(table);
  EXPECT_THAT(table->shape("bias"), ElementsAre(2, 2, 2));
  // Slopes 2^-4 and 2^-6; distances 2 1, 3 2.
  EXPECT_THAT(table->tensor<float>("bias"),
              ElementsAre(-2 / 16.f, -1 / 16.f, -3 / 16.f, -2 / 16.f, -2 / 64.f, -1 / 64.f, -3 / 64.f,
                          -2 / 64.f));
}

TEST_F(LocalConnectionTest, SlopesAreOneRow) {
  const auto table = client_.Slice(Alibi{.heads = 4, .form = AlibiForm::kSlopes}, {.heads = Range{1, 3}});
  ASSERT_OK(table);
  EXPECT_THAT(table->tensor<float>("slopes"), ElementsAre(1 / 16.f, 1 / 64.f));
}

TEST_F(LocalConnectionTest, NoRowOfATableThatIsOneRowHasNoBytes) {
  for (const TableSpec& spec : {TableSpec{Alibi{.heads = 4, .form = AlibiForm::kSlopes}},
                                TableSpec{Rope{.head_dim = 8, .layout = RopeLayout::kFrequencies}}}) {
    const auto table = client_.Slice(spec, {.rows = Range{0, 0}});
    ASSERT_OK(table);
    EXPECT_THAT(table->tensors().front().shape, ElementsAre(0, 4));  // as the service answers
    EXPECT_EQ(table->size_bytes(), 0);
  }
}

TEST_F(LocalConnectionTest, StreamsTheSameInChunks) {
  const Rope wide{.head_dim = 1024, .max_len = 3000};
  const auto table = client_.Get(wide);
  std::vector<std::byte> cos;
  int chunks = 0;
  ASSERT_OK(client_.Stream(wide, {}, [&](const Chunk& chunk) {
    ++chunks;
    cos.insert(cos.end(), chunk.tensors[0].begin(), chunk.tensors[0].end());
    return absl::OkStatus();
  }));
  EXPECT_GT(chunks, 3);
  EXPECT_TRUE(std::ranges::equal(cos, table->bytes("cos")));
}

TEST_F(LocalConnectionTest, ReadsIntoMemoryOfTheCaller) {
  std::vector<float> cos(8), sin(8);
  const auto bytes = [](std::vector<float>& numbers) { return std::as_writable_bytes(std::span(numbers)); };
  ASSERT_OK(client_.ReadInto(rope_, {.rows = Range{5, 7}}, {bytes(cos), bytes(sin)}));
  EXPECT_EQ(cos, Generated({rope_}, 0, 5, 7));
  EXPECT_THAT(client_.ReadInto(rope_, {.rows = Range{5, 8}}, {bytes(cos), bytes(sin)}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'cos'")));
  EXPECT_THAT(client_.ReadInto(rope_, {.rows = Range{5, 7}}, {bytes(cos)}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needed: 2")));
}

TEST_F(LocalConnectionTest, ErrorsNameTheRequestsFields) {
  EXPECT_THAT(client_.Get(Rope{.head_dim = 7}), ViolatesField("spec.rope.head_dim"));
  EXPECT_THAT(client_.Slice(rope_, {.rows = Range{0, 1001}}), ViolatesField("selection.rows.end"));
  EXPECT_THAT(client_.Slice(rope_, {.rows = Range{0, 1001}}),
              StatusIs(absl::StatusCode::kOutOfRange, _));
}

TEST_F(LocalConnectionTest, VirtualTablesAreDescribedButNotAllocated) {
  const Rope huge{.head_dim = 128, .max_len = int64_t{1} << 50};
  EXPECT_OK(client_.Describe(huge));
  EXPECT_OK(client_.Slice(huge, {.rows = Range{int64_t{1} << 49, (int64_t{1} << 49) + 1}}));
  EXPECT_THAT(client_.Get(huge), StatusIs(absl::StatusCode::kResourceExhausted, _));
}

TEST_F(LocalConnectionTest, ElementTypeComesWithTheSpec) {
  const auto table = client_.Slice({rope_, ElementType::kBF16}, {.rows = Range{0, 1}});
  ASSERT_OK(table);
  EXPECT_THAT(table->tensor<BFloat16>("cos"), Each(BFloat16{0x3f80}));
}

TEST_F(LocalConnectionTest, DigestIsThatOfTheBytes) {
  // One row of position 0: cosines are 1, sines are 0.
  const auto table = MakeLocalConnection()->Describe(
      {.spec = {Sinusoidal{.d_model = 1, .max_len = 1, .order = SinusoidalOrder::kSinCos}},
       .with_content_digest = true});
  ASSERT_OK(table);
  EXPECT_EQ(table->tensors[0].content_sha256,  // of four zero bytes
            "df3f619804a92fdb4057192dc43dd748ea778adc52bc498ce80524c014b81119");
}

TEST_F(LocalConnectionTest, DigestOfMoreThanAServerDigestsIsRefused) {
  const auto table = MakeLocalConnection()->Describe(
      {.spec = {Sinusoidal{.d_model = 1024, .max_len = int64_t{1} << 40}}, .with_content_digest = true});
  EXPECT_THAT(table, StatusIs(absl::StatusCode::kFailedPrecondition, _));
}

TEST_F(LocalConnectionTest, ServersBusinessIsUnimplemented) {
  EXPECT_THAT(client_.ListTables(), StatusIs(absl::StatusCode::kUnimplemented, _));
  EXPECT_THAT(client_.EvictAll(), StatusIs(absl::StatusCode::kUnimplemented, _));
  EXPECT_THAT(client_.Warm({}), StatusIs(absl::StatusCode::kUnimplemented, _));
  EXPECT_EQ(*client_.Health(), HealthStatus::kServing);
}

TEST(EstimateBytesTest, IsExactForValidRequests) {
  Client client(MakeLocalConnection());
  const std::vector<std::pair<TableSpec, Selection>> requests = {
      {{Sinusoidal{.d_model = 10}}, {.rows = Range{3, 9}, .columns = Range{2, std::nullopt}}},
      {{Rope{.head_dim = 8, .layout = RopeLayout::kPairsDuplicated}}, {}},
      {{Rope{.head_dim = 8, .layout = RopeLayout::kComplex}, ElementType::kF64}, {.positions = {1, 2}}},
      {{Rope{.head_dim = 8, .layout = RopeLayout::kFrequencies}}, {}},
      {{Rope{.head_dim = 8, .layout = RopeLayout::kSinCosRepeated}}, {.columns = Range{1, 2}}},
      {{Alibi{.heads = 5, .max_len = 9}}, {.rows = Range{1, 4}, .heads = Range{2, 3}, .keys = Range{0, 5}}},
      {{Alibi{.heads = 5, .form = AlibiForm::kSlopes}}, {}},
  };
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto& [spec, selection] = requests[i];
    EXPECT_EQ(EstimateBytes(spec, selection), client.Slice(spec, selection)->size_bytes()) << i;
  }
}

}  // namespace
}  // namespace posenc

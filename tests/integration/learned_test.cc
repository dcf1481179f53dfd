// Learned tables over the wire: a server with --learned, a client, and the same catalog in this process.

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "posenc/client.h"
#include "server/models/tensors/stored_tensors.h"
#include "tests/integration/process.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kRows = 512;
constexpr int64_t kWidth = 3;

// Row r has r, r + 1/2 and 1 in BF16, whose upper bytes are those of a float.
uint16_t Bf16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return static_cast<uint16_t>(bits >> 16);
}

std::string WriteCheckpoint() {
  std::string data;
  for (int64_t row = 0; row < kRows; ++row) {
    for (float value : {static_cast<float>(row / 4), static_cast<float>(row / 4) + 0.5f, 1.0f}) {
      const uint16_t bits = Bf16(value);
      data.append(reinterpret_cast<const char*>(&bits), 2);
    }
  }
  const std::string header = R"({"wpe.weight":{"dtype":"BF16","shape":[512,3],"data_offsets":[0,3072]}})";
  const uint64_t length = header.size();
  const auto path = std::filesystem::path(testing::TempDir()) / ("learned." + std::to_string(getpid()) + ".safetensors");
  std::ofstream(path, std::ios::binary) << std::string(reinterpret_cast<const char*>(&length), 8) << header << data;
  return path.string();
}

class LearnedTest : public testing::Test {
 protected:
  ~LearnedTest() override { std::filesystem::remove(file_); }

  const std::string file_ = WriteCheckpoint();
  ServerProcess server_{{"--learned", "gpt2=" + file_ + ":wpe.weight"}};
  Client client_{MakeConnection(server_.target())};
  Client local_{MakeLocalConnection(*LoadTensorCatalog({{"gpt2", file_, "wpe.weight"}}))};
};

TEST_F(LearnedTest, RowsComeAsTheyAreStored) {
  const absl::StatusOr<Table> table = client_.Get(Learned{.name = "gpt2"});
  ASSERT_OK(table);
  EXPECT_EQ(table->tensors()[0].element_type, ElementType::kBF16);
  EXPECT_THAT(table->tensors()[0].shape, ElementsAre(kRows, kWidth));
  uint16_t last[3];
  std::memcpy(last, table->bytes("table").data() + (kRows - 1) * kWidth * 2, sizeof(last));
  EXPECT_THAT(last, ElementsAre(Bf16(127), Bf16(127.5f), Bf16(1)));
}

TEST_F(LearnedTest, RowsAreConvertedAndFoundByPosition) {
  const TableRequest opt{Learned{.name = "gpt2", .position_offset = 2, .row_scale = 0.5}, ElementType::kF32};
  const absl::StatusOr<Table> rows = client_.Slice(opt, {.positions = {509, -2, 6}});
  ASSERT_OK(rows);
  EXPECT_THAT(rows->tensor<float>("table"), ElementsAre(63.5, 63.75, 0.5, 0, 0.25, 0.5, 1, 1.25, 0.5));
  EXPECT_THAT(client_.Slice(opt, {.positions = {510}}), StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("-2 to 509")));
  EXPECT_THAT(client_.Slice(opt, {.positions = {-3}}), ViolatesField("selection.positions[0]"));
}

TEST_F(LearnedTest, ServerAndProcessAgreeByteForByte) {
  const GridResize resize{.source_height = 15, .source_width = 34, .height = 20, .width = 30, .leading_rows = 2};
  for (const TableRequest& request :
       {TableRequest{Learned{.name = "gpt2"}}, TableRequest{Learned{.name = "gpt2", .resize = resize}, ElementType::kF32}}) {
    const absl::StatusOr<Table> remote = client_.Get(request), local = local_.Get(request);
    ASSERT_OK(remote);
    ASSERT_OK(local);
    EXPECT_TRUE(ContentOf(*remote) == ContentOf(*local));
  }
}

TEST_F(LearnedTest, UnknownNamesAndRowsPastTheEndAreRefused) {
  EXPECT_THAT(client_.Get(Learned{.name = "bert"}),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("'bert'"), HasSubstr("gpt2"))));
  EXPECT_THAT(local_.Get(Learned{.name = "bert"}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("gpt2")));
  EXPECT_THAT(client_.Slice(Learned{.name = "gpt2"}, {.positions = {512}}),
              StatusIs(absl::StatusCode::kOutOfRange, AllOf(HasSubstr("512"), HasSubstr("0 to 511"))));
  EXPECT_THAT(client_.Slice(Learned{.name = "gpt2"}, {.rows = Range{0, 513}}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("512")));
}

TEST_F(LearnedTest, DigestOfAnotherTensorIsRefused) {
  const absl::StatusOr<TableDescription> about = client_.Describe(Learned{.name = "gpt2"});
  ASSERT_OK(about);
  EXPECT_EQ(std::get<Learned>(about->spec.family).content_sha256.size(), 64u);
  EXPECT_THAT(client_.Get(Learned{.name = "gpt2", .content_sha256 = std::string(64, '0')}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("content_sha256")));
}

}  // namespace
}  // namespace posenc

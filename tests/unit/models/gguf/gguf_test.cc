// Heads of GGUF files: what is kept, and what is refused.

#include "server/models/gguf/gguf.h"

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/gguf/gguf_writer.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// A file with a bit of everything.
GgufWriter SmallFile() {
  GgufWriter writer;
  writer.Text("general.architecture", "llama")
      .U32("llama.block_count", 2)
      .F32("llama.rope.freq_base", 500000);
  writer.Bool("flag", true).I32List("list", {1, -2}).TextList("tokenizer.ggml.tokens", 20);
  writer.Tensor("token_embd.weight", {8, 3}, std::vector<float>(24, 1));
  writer.Tensor("rope_freqs.weight", {1, 1, 8, 32});
  return writer;
}

absl::StatusOr<GgufFile> ReadBytes(const std::string& bytes) {
  std::istringstream stream(bytes);
  return ReadGguf(stream, bytes.size());
}

void ExpectRefused(const std::string& bytes, const std::string& words) {
  EXPECT_THAT(ReadBytes(bytes), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(words)));
}

TEST(ReadGgufTest, KeepsKeysAndRopeTensors) {
  for (const uint32_t version : {2, 3}) {
    std::string bytes = SmallFile().ToBytes();
    bytes.replace(4, 4, Bytes(version));
    const auto file = ReadBytes(bytes);
    ASSERT_OK(file);
    EXPECT_EQ(file->version, version);
    EXPECT_EQ(file->metadata, Json::parse(R"({"general.architecture":"llama","llama.block_count":2,
        "llama.rope.freq_base":500000.0,"flag":true,"list":[1,-2]})"));
    ASSERT_EQ(file->tensors.size(), 1u);
    EXPECT_EQ(file->tensors[0].name, "rope_freqs.weight");
    EXPECT_THAT(file->tensors[0].values, ElementsAre(1, 1, 8, 32));
  }
}

TEST(ReadGgufTest, EveryScalarTypeIsRead) {
  GgufWriter writer;
  writer.Key("u8", 0, Bytes<uint8_t>(200))
      .Key("i8", 1, Bytes<int8_t>(-3))
      .Key("u16", 2, Bytes<uint16_t>(60000));
  writer.Key("i16", 3, Bytes<int16_t>(-300)).Key("i32", 5, Bytes<int32_t>(-70000));
  writer.Key("u64", 10, Bytes<uint64_t>(1ull << 40)).Key("i64", 11, Bytes<int64_t>(-(1ll << 40)));
  writer.Key("f64", 12, Bytes(0.1));
  const auto file = ReadBytes(writer.ToBytes());
  ASSERT_OK(file);
  EXPECT_EQ(file->metadata, Json::parse(R"({"u8":200,"i8":-3,"u16":60000,"i16":-300,"i32":-70000,
      "u64":1099511627776,"i64":-1099511627776,"f64":0.1})"));
}

TEST(ReadGgufTest, PositionTableKeepsItsShapeAlone) {
  const auto file =
      ReadBytes(GgufWriter().Tensor("position_embd.weight", {4, 3}, std::vector<float>(12, 7)).ToBytes());
  ASSERT_OK(file);
  EXPECT_THAT(file->tensors.at(0).shape, ElementsAre(4, 3));
  EXPECT_TRUE(file->tensors.at(0).values.empty());
}

TEST(ReadGgufTest, LongValuesAreLeftOut) {
  GgufWriter writer;
  writer.Text("long", std::string(5000, 'x')).I32List("big", std::vector<int32_t>(5000, 1)).U32("last", 7);
  const auto file = ReadBytes(writer.ToBytes());
  ASSERT_OK(file);
  EXPECT_EQ(file->metadata, Json::parse(R"({"last":7})"));
}

TEST(ReadGgufTest, WrongHeadsAreRefused) {
  ExpectRefused("", "ends inside its magic number");
  ExpectRefused("GGUX" + SmallFile().ToBytes().substr(4), "does not begin with GGUF");
  ExpectRefused("GGUF" + Bytes<uint32_t>(1) + std::string(16, '\0'), "version 1; allowed: 2, 3");
  ExpectRefused("GGUF" + Bytes<uint32_t>(0x03000000) + std::string(16, '\0'), "big-endian");
  ExpectRefused("GGUF" + Bytes<uint32_t>(3) + Bytes<uint64_t>(~0ull) + Bytes<uint64_t>(0),
                "tensors; allowed");
  ExpectRefused("GGUF" + Bytes<uint32_t>(3) + Bytes<uint64_t>(0) + Bytes<uint64_t>(~0ull), "keys; allowed");
}

TEST(ReadGgufTest, CountsBeyondTheFileAreRefused) {
  const std::string huge = Bytes<uint64_t>(std::numeric_limits<uint64_t>::max());
  ExpectRefused(GgufWriter().Key("k", 8, huge).ToBytes(), "ends inside a text");
  ExpectRefused(GgufWriter().Key("k", 9, Bytes<uint32_t>(4) + huge).ToBytes(), "ends inside a list");
  ExpectRefused(GgufWriter().Key("k", 9, Bytes<uint32_t>(10) + Bytes<uint64_t>(1ull << 61)).ToBytes(),
                "ends inside a list");
  ExpectRefused(GgufWriter().Key("k", 9, Bytes<uint32_t>(8) + Bytes<uint64_t>(9)).ToBytes(),
                "ends inside a list");
  ExpectRefused("GGUF" + Bytes<uint32_t>(3) + Bytes<uint64_t>(0) + Bytes<uint64_t>(1) + huge,
                "allowed: at most");
}

TEST(ReadGgufTest, WrongTypesAndNestingAreRefused) {
  ExpectRefused(GgufWriter().Key("k", 13, "").ToBytes(), "type 13; allowed: 0 to 12");
  std::string nested;
  for (int i = 0; i < 6; ++i) nested += Bytes<uint32_t>(9) + Bytes<uint64_t>(1);
  ExpectRefused(GgufWriter().Key("k", 9, nested + std::string(64, '\0')).ToBytes(), "too deep");
  ExpectRefused(GgufWriter().U32("k", 1).U32("k", 2).ToBytes(), "the key \"k\" twice");
  ExpectRefused(GgufWriter().U32("general.alignment", 0).ToBytes(), "general.alignment is 0");
}

TEST(ReadGgufTest, WrongTensorsAreRefused) {
  ExpectRefused(GgufWriter().Tensor("rope_freqs.weight", {4}, {1, 2}, 1).ToBytes(), "allowed: F32");
  ExpectRefused(GgufWriter().Tensor("rope_freqs.weight", {1 << 20}, {1}).ToBytes(), "allowed: F32");
  ExpectRefused(GgufWriter().Tensor("rope_freqs.weight", {64}, {1}).ToBytes(),
                "ends inside rope_freqs.weight");
  ExpectRefused(GgufWriter().Tensor("w", {1ull << 40, 1ull << 40}, {1}).ToBytes(), "too many elements");
  ExpectRefused(GgufWriter().Tensor("w", std::vector<uint64_t>(9, 1), {1}).ToBytes(), "9 dimensions");
  ExpectRefused(GgufWriter().Tensor("rope_freqs.weight", {1}).Tensor("rope_freqs.weight", {1}).ToBytes(),
                "twice");
}

// The head ends before its data, which the last tensor's numbers need.
TEST(ReadGgufTest, EveryPrefixIsRefused) {
  const std::string bytes = SmallFile().ToBytes();
  const size_t numbers_end = bytes.size() - 16;  // four numbers in a block of 32 bytes
  for (size_t length = 0; length < numbers_end; ++length) {
    EXPECT_THAT(ReadBytes(bytes.substr(0, length)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("GGUF file")))
        << length;
  }
}

TEST(ReadGgufTest, AnyByteMayBeWrong) {
  const std::string bytes = SmallFile().ToBytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(~changed[i]);
    const absl::StatusCode code = ReadBytes(changed).status().code();
    EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kInvalidArgument) << i;
  }
}

TEST(ReadGgufTest, FileIsReadByItsPath) {
  const auto file = ReadGguf(WriteFile(SmallFile().ToBytes()));
  ASSERT_OK(file);
  EXPECT_EQ(file->metadata["general.architecture"], "llama");
}

TEST(ReadGgufTest, FileThatIsNotThereIsNotFound) {
  EXPECT_THAT(ReadGguf("/no/such/file.gguf"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot be opened")));
}

TEST(GgufToJsonTest, GivesTheTextOfTheRequest) {
  const auto file = ReadBytes(GgufWriter().U32("a.b", 1).Tensor("rope_freqs.weight", {1, 2}).ToBytes());
  ASSERT_OK(file);
  EXPECT_EQ(
      Json::parse(GgufToJson(*file)),
      Json::parse(R"({"metadata":{"a.b":1},"tensors":{"rope_freqs.weight":{"shape":[2],"values":[1,2]}}})"));
}

TEST(GgufToJsonTest, AnyTextBecomesJson) {
  const auto file = ReadBytes(GgufWriter().Text("k", "\xff\"").F32("inf", INFINITY).ToBytes());
  ASSERT_OK(file);
  EXPECT_TRUE(Json::accept(GgufToJson(*file)));
}

}  // namespace
}  // namespace posenc

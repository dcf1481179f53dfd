// Reports of model files that were misread, up to the numbers of the tables that they mean.
// README.md lists them.

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "server/models/tensors/stored_tensors.h"
#include "tests/regression/regression.h"

namespace posenc {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

absl::StatusOr<ModelTables> Resolve(const std::string& config) {
  return LocalClient().ResolveModel({.config_json = config});
}

// A Llama of head_dim 128 with `keys` besides.
absl::StatusOr<ModelTables> ResolveLlama(const std::string& keys) {
  return Resolve(absl::StrCat(
      R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":8192)",
      keys.empty() ? "" : ",", keys, "}"));
}

// The first table's spec; a failed test's default where there is none.
TableSpec SpecOf(const absl::StatusOr<ModelTables>& model) {
  EXPECT_OK(model);
  if (!model.ok()) return {};
  EXPECT_THAT(model->tables, SizeIs(1));
  return model->tables.empty() ? TableSpec() : model->tables[0].spec;
}

std::vector<double> FrequenciesOf(const absl::StatusOr<ModelTables>& model) {
  return Frequencies(SpecOf(model));
}

TEST(Llama3Issue299Test, SixKeyBlockIsAccepted) {
  const auto model = ResolveLlama(
      R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,
         "original_max_position_embeddings":8192,"rope_type":"llama3"})");
  const std::vector<double> inv = FrequenciesOf(model);
  ASSERT_EQ(inv.size(), 64u);
  EXPECT_THAT(inv[1], IsNine(std::pow(500000.0, -1 / 64.0)));
  EXPECT_THAT(inv[63], IsNine(std::pow(500000.0, -63 / 64.0) / 8));
}

TEST(Llama3Issue299Test, MissingKeysAreNamed) {
  const std::vector<std::string> keys = {"factor", "low_freq_factor", "high_freq_factor",
                                         "original_max_position_embeddings"};
  for (const std::string& missing : keys) {
    std::vector<std::string> block = {R"("rope_type":"llama3")"};
    for (const std::string& key : keys) {
      if (key != missing) block.push_back(absl::StrCat("\"", key, "\":4.0"));
    }
    EXPECT_THAT(ResolveLlama(absl::StrCat("\"rope_scaling\":{", absl::StrJoin(block, ","), "}")),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(missing)));
  }
}

TEST(Transformers37134Test, WholeNumbersAreNumbers) {
  const auto resolve = [](const std::string& theta, const std::string& factor,
                          const std::string& beta) {
    return ResolveLlama(
        absl::StrCat(R"("rope_theta":)", theta,
                     R"(,"rope_scaling":{"rope_type":"yarn","original_max_position_embeddings":4096,
                                     "factor":)",
                     factor, R"(,"beta_fast":)", beta, "}"));
  };
  const Table whole = Ask(SpecOf(resolve("1000000", "40", "32")), {.rows = Range{0, 10}});
  const Table real = Ask(SpecOf(resolve("1e6", "40.0", "32.0")), {.rows = Range{0, 10}});
  EXPECT_EQ(whole.key(), real.key());
  EXPECT_EQ(BytesOf(whole), BytesOf(real));
  EXPECT_THAT(BytesOf(whole), Not(IsEmpty()));
}

TEST(Transformers37134Test, WhatIsNoPositiveNumberIsRefused) {
  for (const std::string factor : {R"("40")", "true", "0", "-4", "NaN"}) {
    EXPECT_THAT(ResolveLlama(R"("rope_scaling":{"rope_type":"linear","factor":)" + factor + "}"),
                ViolatesField("rope_scaling.factor"))
        << factor;
  }
}

absl::StatusOr<ModelTables> ResolveLinear(const std::string& types) {
  return ResolveLlama(absl::StrCat(R"("rope_scaling":{"factor":2.0,)", types, "}"));
}

TEST(Transformers32182Test, TypeIsTheOldNameOfRopeType) {
  for (const std::string types : {R"("type":"linear")", R"("rope_type":"linear")",
                                  R"("type":"linear","rope_type":"linear")"}) {
    EXPECT_THAT(FrequenciesOf(ResolveLinear(types)).at(1), IsNine(0.432982162)) << types;
  }
}

TEST(Transformers32182Test, DifferentTypesAreDecidedWithAWarning) {
  const auto model = ResolveLinear(R"("type":"dynamic","rope_type":"linear")");
  EXPECT_THAT(FrequenciesOf(model).at(1), IsNine(0.432982162));
  EXPECT_THAT(model->notes,
              Contains(HasSubstr(
                  R"(rope_scaling.rope_type "linear" is used, not rope_scaling.type "dynamic")")));
}

// The origin of a field of the first table.
ValueOrigin OriginOf(const absl::StatusOr<ModelTables>& model, const std::string& field) {
  SpecOf(model);
  for (const ValueOrigin& origin : model->tables.at(0).origins) {
    if (origin.field == field) return origin;
  }
  ADD_FAILURE() << "no origin of " << field;
  return {};
}

TEST(DeepSpeed8345Test, ThetaMayStandInRopeParameters) {
  const auto model =
      ResolveLlama(R"("rope_parameters":{"rope_type":"default","rope_theta":1000000.0})");
  EXPECT_NEAR(RowAt(SpecOf(model), 1000, "cos").at(32), 0.540302306, kTolerance);
  EXPECT_EQ(OriginOf(model, "rope.base").source, "rope_parameters.rope_theta");
}

TEST(DeepSpeed8345Test, ThetaThatIsNowhereIsADefault) {
  const auto model = ResolveLlama("");
  EXPECT_NEAR(RowAt(SpecOf(model), 1000, "cos").at(32), -0.839071529, kTolerance);
  EXPECT_TRUE(OriginOf(model, "rope.base").defaulted);
}

TEST(DeepSpeed8345Test, TwoThetasAreDecidedWithAWarning) {
  const auto model =
      ResolveLlama(R"("rope_theta":10000.0,"rope_parameters":{"rope_theta":1000000.0})");
  EXPECT_NEAR(RowAt(SpecOf(model), 1000, "cos").at(32), 0.540302306, kTolerance);
  EXPECT_THAT(
      model->notes,
      Contains(HasSubstr("rope_parameters.rope_theta 1000000 is used, not rope_theta 10000")));
}

TEST(Aiter4742Test, DefaultBlocksScaleNothing) {
  for (const std::string block :
       {"null", "{}", R"({"rope_type":"default"})",
        R"({"rope_theta":10000,"partial_rotary_factor":1.0,"rope_type":"default"})"}) {
    EXPECT_THAT(FrequenciesOf(ResolveLlama(R"("rope_scaling":)" + block)).at(1),
                IsNine(0.865964323))
        << block;
  }
}

TEST(Aiter4742Test, YarnWithoutItsLengthTakesTheModelsWithAWarning) {
  const auto model = ResolveLlama(R"("rope_scaling":{"rope_type":"yarn","factor":4.0})");
  EXPECT_EQ(std::get<YarnScaling>(std::get<Rope>(SpecOf(model).family).scaling).original_max_len,
            8192);
  EXPECT_THAT(model->notes, Contains(HasSubstr("is taken as the trained length")));
}

TEST(VllmFork1294Test, NullHeadDimIsAbsent) {
  const std::vector<double> inv =
      FrequenciesOf(Resolve(R"({"hidden_size":4096,"num_attention_heads":32,"head_dim":null})"));
  ASSERT_EQ(inv.size(), 64u);
  EXPECT_THAT(inv[1], IsNine(0.865964323));
}

TEST(VllmFork1294Test, HeadsThatDoNotDivideTheWidthAreRefused) {
  EXPECT_THAT(Resolve(R"({"hidden_size":4100,"num_attention_heads":32})"),
              ViolatesField("hidden_size"));
}

TEST(Candle2358Test, WrittenHeadDimWins) {
  const std::vector<double> inv = FrequenciesOf(Resolve(
      R"({"hidden_size":5120,"num_attention_heads":32,"head_dim":128,"rope_theta":1000000.0})"));
  ASSERT_EQ(inv.size(), 64u);
  EXPECT_THAT(inv[1], IsNine(0.805842188));
}

TEST(MlxLm1698Test, GlmRotatesHalfOfEachHeadInterleaved) {
  for (const std::string factor : {"", R"(,"partial_rotary_factor":0.5)"}) {
    const auto model = Resolve(absl::StrCat(
        R"({"model_type":"glm","head_dim":128,"num_attention_heads":32,"rope_theta":10000.0)",
        factor, "}"));
    const std::vector<double> inv = FrequenciesOf(model);
    ASSERT_EQ(inv.size(), 32u);
    EXPECT_THAT(inv[1], IsNine(0.749894209));
    EXPECT_EQ(model->tables[0].pairing, Pairing::kInterleaved);
  }
}

// A file in the test's own folder.
std::string WriteFile(const std::string& name, const std::string& bytes) {
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / absl::StrCat("posenc-", getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << bytes;
  return folder / name;
}

// A safetensors file: the length of the header, the header, the data.
std::string Safetensors(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<char>(uint64_t{header.size()} >> (8 * i) & 0xff);
  return length + header + data;
}

std::string TwoTensors() {
  const float f32[] = {0.5f, -1.5f, 2.0f, 3.25f, 4.0f, 5.0f, -6.0f, 7.0f};
  std::string data(reinterpret_cast<const char*>(f32), sizeof f32);
  for (int i = 0; i < 6; ++i) data += std::string("\x80\x3f\x20\xc0", 4);  // 1, −2.5
  return Safetensors(R"({"a":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]},)"
                     R"("b":{"dtype":"BF16","shape":[3,4],"data_offsets":[32,56]}})",
                     data);
}

TEST(Bit1Monster1058Test, OffsetsCountFromTheHeadersEndAndBF16IsRead) {
  const std::string file = WriteFile("two.safetensors", TwoTensors());
  const auto catalog = LoadTensorCatalog({{"a", file, "a"}, {"b", file, "b"}});
  ASSERT_OK(catalog);
  const Client client(MakeLocalConnection(*catalog));
  EXPECT_THAT(Values(Ask(client, {Learned{.name = "a"}, ElementType::kF32}), "table"),
              ElementsAre(0.5, -1.5, 2, 3.25, 4, 5, -6, 7));
  EXPECT_THAT(Values(Ask(client, {Learned{.name = "b"}, ElementType::kF32}), "table"),
              ElementsAre(1, -2.5, 1, -2.5, 1, -2.5, 1, -2.5, 1, -2.5, 1, -2.5));
}

TEST(Bit1Monster1058Test, MalformedFilesAreRefusedWithTheTensorNamed) {
  const auto open = [](const std::string& offsets) {
    const std::string header =
        R"({"pos":{"dtype":"F32","shape":[2,4],"data_offsets":)" + offsets + "}}";
    return OpenStoredTensor(
        WriteFile("bad.safetensors", Safetensors(header, std::string(32, '\0'))), "pos");
  };
  EXPECT_OK(open("[0,32]"));
  for (const std::string offsets : {"[32,0]", "[0,64]", "[8,40]", "[-8,24]", "[0,16]"}) {
    EXPECT_THAT(open(offsets), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pos")))
        << offsets;
  }
}

TEST(Bit1Monster1058Test, TruncatedFilesAreRefused) {
  const std::string whole = TwoTensors();
  for (size_t size : {size_t{0}, size_t{7}, size_t{8}, size_t{60}, whole.size() - 1}) {
    const std::string file = WriteFile("cut.safetensors", whole.substr(0, size));
    EXPECT_THAT(OpenStoredTensor(file, "b"),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut.safetensors")));
  }
}

}  // namespace
}  // namespace posenc

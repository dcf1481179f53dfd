// Texts that are no config.json, or a wrong one: each is refused with the place and what is allowed.

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/limits.h"
#include "server/models/config/config_json.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  std::string text;
  std::string field;
  std::string words;
};

void ExpectRefused(const Case& row) {
  SCOPED_TRACE(row.text.substr(0, 200));
  EXPECT_THAT(ResolveModelConfig(row.text),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(row.words)),
                    ViolatesField(row.field)));
}

std::string Repeat(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

TEST(MalformedConfigTest, TextThatIsNoJsonObject) {
  const Case kCases[] = {
      {"", "config_json", "is not JSON"},
      {" \n", "config_json", "is not JSON"},
      {"{", "config_json", "line 1, column 2"},
      {"{} {}", "config_json", "is not JSON"},
      {"{\"a\":1,}", "a", "is not JSON"},
      {"{'a':1}", "config_json", "is not JSON"},
      {"// comment\n{}", "config_json", "is not JSON"},
      {"[]", "config_json", "is a list of 0; allowed: a JSON object"},
      {"\"llama\"", "config_json", "is \"llama\"; allowed: a JSON object"},
      {"7", "config_json", "is 7; allowed: a JSON object"},
      {"null", "config_json", "is null; allowed: a JSON object"},
      {std::string("{\"a\":\"\0\"}", 9), "a", "is not JSON"},
      {"{\"a\":\"\xff\"}", "a", "is not JSON"},
      {"\x80\x02", "config_json", "is not JSON"},
      {R"({"rope_theta":NaN})", "rope_theta", "is not JSON"},
      {R"({"rope_theta":Infinity})", "rope_theta", "is not JSON"},
      {R"({"rope_theta":-Infinity})", "rope_theta", "is not JSON"},
      {R"({"rope_theta":1e999})", "rope_theta", "number overflow"},
      {R"({"rope_theta":01})", "rope_theta", "is not JSON"},
  };
  for (const Case& row : kCases) ExpectRefused(row);
}

TEST(MalformedConfigTest, RepeatedKeys) {
  ExpectRefused({R"({"rope_theta":1,"rope_theta":2})", "rope_theta", "is there twice; allowed: once"});
  ExpectRefused({R"({"rope_scaling":{"type":"linear","type":"linear"}})", "rope_scaling.type", "twice"});
}

TEST(MalformedConfigTest, DeepNestingIsStoppedEarly) {
  for (const int depth : {65, 1000, 60000}) {
    ExpectRefused({absl::StrCat("{\"a\":", Repeat("[", depth)), "a[0][0][0][0][0]", "nested too deep"});
    ExpectRefused({Repeat("{\"text_config\":", depth), "text_config.text_config.text_config.text_config."
                                                       "text_config.text_config",
                   "allowed: 64 levels"});
  }
  EXPECT_OK(ResolveModelConfig(
      absl::StrCat("{\"model_type\":\"llama\",\"a\":", Repeat("[", 63), Repeat("]", 63), "}")));
}

TEST(MalformedConfigTest, TextThatIsTooLong) {
  const std::string text = absl::StrCat("{\"a\":\"", std::string(limits::kMaxRequestBytes, 'x'), "\"}");
  ExpectRefused({text, "config_json", "allowed: at most 1048576"});
}

TEST(MalformedConfigTest, ValuesOfTheWrongKind) {
  const Case kCases[] = {
      {R"({"model_type":7})", "model_type", "is 7; allowed: a string"},
      {R"({"model_type":["llama"]})", "model_type", "is a list of 1; allowed: a string"},
      {R"({"text_config":"llama"})", "text_config", "allowed: an object or null"},
      {R"({"model_type":"llama","hidden_size":"4096"})", "hidden_size", "is \"4096\""},
      {R"({"model_type":"llama","hidden_size":true})", "hidden_size", "is true"},
      {R"({"model_type":"llama","hidden_size":4096.5})", "hidden_size", "allowed: a whole number"},
      {R"({"model_type":"llama","hidden_size":1e300})", "hidden_size", "allowed: a whole number"},
      {R"({"model_type":"llama","hidden_size":18446744073709551615})", "hidden_size", "whole number"},
      {R"({"model_type":"llama","hidden_size":{}})", "hidden_size", "is an object"},
      {R"({"model_type":"llama","num_attention_heads":[]})", "num_attention_heads", "is a list of 0"},
      {R"({"model_type":"llama","head_dim":"x"})", "head_dim", "whole number"},
      {R"({"model_type":"llama","max_position_embeddings":false})", "max_position_embeddings", "is false"},
      {R"({"model_type":"llama","rope_theta":"1e4"})", "rope_theta", "allowed: a number"},
      {R"({"model_type":"llama","rope_theta":[10000]})", "rope_theta", "allowed: a number"},
      {R"({"model_type":"llama","rope_scaling":"linear"})", "rope_scaling", "an object or null"},
      {R"({"model_type":"llama","rope_scaling":[1]})", "rope_scaling", "is a list of 1"},
      {R"({"model_type":"llama","rope_parameters":1})", "rope_parameters", "an object or null"},
      {R"({"model_type":"llama","rope_parameters":{"full_attention":3}})",
       "rope_parameters.full_attention", "an object or null"},
      {R"({"model_type":"llama","rope_scaling":{"type":1}})", "rope_scaling.type", "allowed: a string"},
      {R"({"model_type":"llama","rope_scaling":{"type":"cubic"}})", "rope_scaling.type",
       "is \"cubic\"; allowed: default, linear, llama3"},
      {R"({"model_type":"falcon","alibi":1})", "alibi", "allowed: true or false"},
      {R"({"model_type":"mpt","attn_config":[]})", "attn_config", "an object or null"},
      {R"({"model_type":"mpt","attn_config":{"alibi":"yes"}})", "attn_config.alibi", "true or false"},
      {R"({"model_type":"chatglm","original_rope":1})", "original_rope", "true or false"},
  };
  for (const Case& row : kCases) ExpectRefused(row);
}

TEST(MalformedConfigTest, ValuesOutOfRangeNameTheFilesOwnKey) {
  const Case kCases[] = {
      {R"({"model_type":"llama","num_attention_heads":0})", "num_attention_heads", "1 and up"},
      {R"({"model_type":"llama","hidden_size":-4096})", "hidden_size", "is -4096"},
      {R"({"model_type":"llama","head_dim":0})", "head_dim", "2 to 65536"},
      {R"({"model_type":"llama","head_dim":127})", "head_dim", "an even number"},
      {R"({"model_type":"llama","head_dim":9007199254740992})", "head_dim", "2 to 65536"},
      {R"({"model_type":"llama","max_position_embeddings":0})", "max_position_embeddings", "1 to"},
      {R"({"model_type":"llama","max_position_embeddings":-5})", "max_position_embeddings", "is -5"},
      {R"({"model_type":"llama","rope_theta":0})", "rope_theta", "is 0"},
      {R"({"model_type":"llama","rope_theta":-1})", "rope_theta", "is -1"},
      {R"({"model_type":"llama","rope_theta":1e308})", "rope_theta", "1 to 1e+30"},
      {R"({"model_type":"llama","rope_parameters":{"rope_theta":0.5}})", "rope_parameters.rope_theta", "0.5"},
      {R"({"model_type":"gptj","rotary_dim":0})", "rotary_dim", "is 0"},
      {R"({"model_type":"gptj","rotary_dim":258})", "rotary_dim", "to head_dim, 256"},
      {R"({"model_type":"gptj","rotary_dim":-2})", "rotary_dim", "is -2"},
      {R"({"model_type":"llama","partial_rotary_factor":0})", "partial_rotary_factor", "more than 0"},
      {R"({"model_type":"llama","partial_rotary_factor":1.5})", "partial_rotary_factor", "at most 1"},
      {R"({"model_type":"llama","partial_rotary_factor":1e-9})", "partial_rotary_factor", "for one pair"},
      {R"({"model_type":"llama","head_dim":6,"partial_rotary_factor":0.5})", "partial_rotary_factor",
       "an even number"},
      {R"({"model_type":"chatglm","rope_ratio":0})", "rope_ratio", "is 0"},
      {R"({"model_type":"bloom","n_head":0})", "n_head", "1 to 4096"},
      {R"({"model_type":"bloom","seq_length":99999999999})", "seq_length", "1 to 2097152"},
      {R"({"model_type":"mpt","attn_config":{"alibi_bias_max":-8}})", "attn_config.alibi_bias_max", "is -8"},
      {R"({"model_type":"whisper","d_model":0})", "d_model", "is 0"},
      {R"({"model_type":"llama","rope_scaling":{"type":"llama3","factor":8,"low_freq_factor":4,
           "high_freq_factor":1,"original_max_position_embeddings":8192}})",
       "rope_scaling.high_freq_factor", "at least low_freq_factor"},
  };
  for (const Case& row : kCases) ExpectRefused(row);
}

TEST(MalformedConfigTest, MissingKeysAreNamed) {
  ExpectRefused({"{}", "hidden_size", "is missing"});
  ExpectRefused({R"({"hidden_size":4096})", "num_attention_heads", "is missing"});
  ExpectRefused({R"({"model_type":"refact"})", "num_attention_heads", "is missing"});
  ExpectRefused({R"({"model_type":"llama","rope_scaling":{"type":"linear"}})", "rope_scaling.factor",
                 "is missing; allowed: a number"});
}

TEST(MalformedConfigTest, EverythingWrongIsNamedAtOnce) {
  const auto status = ResolveModelConfig(
      R"({"model_type":"llama","head_dim":"x","rope_theta":"y","max_position_embeddings":"z"})");
  EXPECT_THAT(status, AllOf(ViolatesField("head_dim"), ViolatesField("rope_theta"),
                            ViolatesField("max_position_embeddings")));
}

TEST(MalformedConfigTest, QuotedTextIsEscapedAndShort) {
  const std::string hostile = absl::StrCat("\\n\\u001f\\u001b[31m", std::string(5000, 'A'));
  const auto status =
      ResolveModelConfig(absl::StrCat(R"({"model_type":"llama","rope_theta":")", hostile, "\"}"));
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("\\n"), HasSubstr("..."))));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("\x1b"))));
  EXPECT_LT(status.status().message().size(), limits::kMaxErrorDetailBytes);
}

TEST(MalformedConfigTest, HostileKeysAreEscapedInPaths) {
  const std::string key = absl::StrCat("\\u001e\\u001f", std::string(3000, 'k'));
  const auto status = ResolveModelConfig(absl::StrCat("{\"", key, "\":1,\"", key, "\":2}"));
  ASSERT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is there twice")));
  EXPECT_EQ(FieldViolationsOf(status.status()).size(), 1u);
  EXPECT_LT(status.status().message().size(), 200u);
}

// Every key of a block that is split by layer type is a table: a file must not ask for thousands.
TEST(MalformedConfigTest, ThousandsOfLayerTypesAreNoSplit) {
  std::string block;
  std::string types;
  for (int i = 0; i < 20000; ++i) {
    absl::StrAppend(&block, i == 0 ? "" : ",", "\"a", i, "\":{}");
    absl::StrAppend(&types, i == 0 ? "" : ",", "\"a", i, "\"");
  }
  const auto model = ResolveModelConfig(absl::StrCat(R"({"model_type":"llama","rope_parameters":{)", block,
                                                     R"(},"layer_types":[)", types, "]}"));
  ASSERT_OK(model);
  EXPECT_EQ(model->tables.size(), 1u);
}

TEST(MalformedConfigTest, HostileLayerTypesAreEscapedInNames) {
  const auto model = ResolveModelConfig(
      R"({"model_type":"llama","layer_types":["a b\n"],"rope_parameters":{"a b\n":{"rope_theta":5}}})");
  ASSERT_OK(model);
  EXPECT_EQ(model->tables.at(0).name, R"("a b\n")");
}

}  // namespace
}  // namespace posenc

#include "server/app/config/config.h"

#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Action = Invocation::Action;

class ConfigTest : public testing::Test {
 protected:
  // Gives the environment and the file of the next Parse.
  void Environment(const std::string& name, const std::string& value) { environment_[name] = value; }
  void File(const std::string& text) {
    file_ = absl::StrCat(testing::TempDir(), "/config_test.", getpid(), ".toml");
    std::ofstream(file_) << text;
  }
  void MemoryLimit(size_t bytes) { memory_limit_ = bytes; }

  absl::StatusOr<Invocation> Parse(std::vector<std::string> args = {}) const {
    if (!file_.empty()) args.insert(args.end(), {"--config", file_});
    ConfigSurroundings surroundings;
    surroundings.environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment_.find(name);
      if (found == environment_.end()) return std::nullopt;
      return found->second;
    };
    surroundings.memory_limit = memory_limit_;
    surroundings.version_text = "posenc-server 9.9.9";
    return ParseInvocation(args, surroundings);
  }

  ServerConfig Config(std::vector<std::string> args = {}) const {
    const auto invocation = Parse(std::move(args));
    EXPECT_OK(invocation);
    return invocation.ok() ? invocation->config : ServerConfig();
  }

  static std::vector<std::string> Texts(const std::vector<ListenAddress>& addresses) {
    std::vector<std::string> texts;
    for (const ListenAddress& address : addresses) texts.push_back(address.text);
    return texts;
  }

 private:
  std::map<std::string, std::string> environment_;
  std::string file_;
  std::optional<size_t> memory_limit_;
};

TEST_F(ConfigTest, LearnedTensorsComeFromEverySource) {
  Environment("POSENC_LEARNED", "a=x.npy,b=dir/y.safetensors:wpe.weight");
  const ServerConfig config = Config();
  ASSERT_EQ(config.learned.size(), 2u);
  EXPECT_EQ(config.learned[0].file, "x.npy");
  EXPECT_EQ(config.learned[1].name, "b");
  EXPECT_EQ(config.learned[1].file, "dir/y.safetensors");
  EXPECT_EQ(config.learned[1].tensor, "wpe.weight");
  File("learned = [\"c=z.npy\"]");
  EXPECT_EQ(Config({"--learned", "d=w.npy"}).learned[0].name, "d");
}

TEST_F(ConfigTest, LearnedTensorsOfAWrongForm) {
  for (const char* text : {"x.npy", "=x.npy", "a=x.gguf", "a=x.safetensors:", "a="}) {
    EXPECT_THAT(Parse({"--learned", text}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("NAME=FILE.safetensors:TENSOR"))) << text;
  }
  EXPECT_THAT(Parse({"--learned", "a=x.npy", "--learned", "a=y.npy"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("every name once")));
}

TEST_F(ConfigTest, DefaultsServe) {
  const ServerConfig config = Config();
  EXPECT_THAT(Texts(config.listen), ElementsAre("0.0.0.0:50051"));
  EXPECT_EQ(config.admin_listen->text, "0.0.0.0:9464");
  EXPECT_EQ(config.cache_bytes, size_t{1} << 30);
  EXPECT_EQ(config.max_unary_bytes, limits::kDefaultMaxUnaryBytes);
  EXPECT_EQ(config.stall_timeout, absl::Seconds(60));
  EXPECT_EQ(config.log_format, LogFormat::kJson);  // no terminal here
  EXPECT_THAT(config.warm, IsEmpty());
}

TEST_F(ConfigTest, EveryFlagReachesTheConfiguration) {
  const ServerConfig config =
      Config({"--listen", "127.0.0.1:0", "--listen", "unix:/tmp/s", "--admin-listen", "127.0.0.1:0",
              "--max-connections", "7", "--port-file", "p", "--admin-port-file", "a", "--cache-bytes", "32MiB", "--block-bytes", "64KiB",
              "--max-unary-bytes", "1MB", "--threads", "3", "--max-memory-wait", "5s", "--stall-timeout", "2m",
              "--warm", "a", "--warm", "b.json", "--warm-dtype", "bf16", "--drain-delay", "1s",
              "--drain-timeout", "500ms", "--log-format", "text", "--log-level", "debug"});
  EXPECT_THAT(Texts(config.listen), ElementsAre("127.0.0.1:0", "unix:/tmp/s"));
  EXPECT_EQ(config.port_file + config.admin_port_file, "pa");
  EXPECT_EQ(config.cache_bytes, size_t{32} << 20);
  EXPECT_EQ(config.block_bytes, size_t{64} << 10);
  EXPECT_EQ(config.max_unary_bytes, 1000000u);
  EXPECT_EQ(config.threads, 3);
  EXPECT_EQ(config.max_connections, 7u);
  EXPECT_EQ(config.max_memory_wait, absl::Seconds(5));
  EXPECT_THAT(config.warm, ElementsAre("a", "b.json"));
  EXPECT_EQ(config.warm_dtype, ElementType::kBF16);
  EXPECT_EQ(config.drain_delay, absl::Seconds(1));
  EXPECT_EQ(config.drain_timeout, absl::Milliseconds(500));
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
}

TEST_F(ConfigTest, EmptyAdminAddressServesNoPages) {
  EXPECT_EQ(Config({"--admin-listen", ""}).admin_listen, std::nullopt);
  EXPECT_EQ(Config({"--admin-listen="}).admin_listen, std::nullopt);
}

TEST_F(ConfigTest, CommandLineBeforeEnvironmentBeforeFileBeforeDefault) {
  File("threads = 1\ndrain-delay = \"1s\"\nlog-level = \"debug\"\n");
  Environment("POSENC_THREADS", "2");
  Environment("POSENC_DRAIN_DELAY", "2s");
  const ServerConfig config = Config({"--threads", "3"});
  EXPECT_EQ(config.threads, 3);
  EXPECT_EQ(config.drain_delay, absl::Seconds(2));
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
  EXPECT_EQ(config.drain_timeout, absl::Seconds(8));
}

TEST_F(ConfigTest, ListsAreReplacedAsAWhole) {
  File("listen = [\"127.0.0.1:1\", \"unix:/tmp/f\"]\n");
  EXPECT_THAT(Texts(Config().listen), ElementsAre("127.0.0.1:1", "unix:/tmp/f"));
  Environment("POSENC_LISTEN", "127.0.0.1:2,127.0.0.1:3");
  EXPECT_THAT(Texts(Config().listen), ElementsAre("127.0.0.1:2", "127.0.0.1:3"));
  EXPECT_THAT(Texts(Config({"--listen", "127.0.0.1:4"}).listen), ElementsAre("127.0.0.1:4"));
}

TEST_F(ConfigTest, CacheIsHalfOfTheContainersLimit) {
  MemoryLimit(size_t{3} << 30);
  EXPECT_EQ(Config().cache_bytes, size_t{3} << 29);
}

TEST_F(ConfigTest, WrongValuesNameFlagValueOriginAndWhatIsAllowed) {
  Environment("POSENC_THREADS", "many");
  EXPECT_THAT(Parse(), StatusIs(absl::StatusCode::kInvalidArgument,
                                AllOf(HasSubstr("--threads"), HasSubstr("is \"many\" (POSENC_THREADS)"),
                                      HasSubstr("allowed: 0 (one for each CPU) to 1024"))));
}

TEST_F(ConfigTest, EveryRangeIsChecked) {
  const std::pair<const char*, const char*> cases[] = {
      {"--listen", "50051"},       {"--admin-listen", "unix:/tmp/a"}, {"--cache-bytes", "5"},
      {"--cache-bytes", "2000TiB"}, {"--block-bytes", "1"},           {"--block-bytes", "1GiB"},
      {"--max-unary-bytes", "4GiB"}, {"--threads", "-1"},             {"--max-memory-wait", "5"},
      {"--stall-timeout", "-1s"},  {"--warm", ""},                    {"--warm-dtype", "C64"},
      {"--drain-delay", "x"},      {"--drain-timeout", "inf"},        {"--log-format", "xml"},
      {"--log-level", "loud"}};
  for (const auto& [flag, value] : cases) {
    EXPECT_THAT(Parse({absl::StrCat(flag, "=", value)}), ViolatesField(flag)) << flag << " " << value;
  }
}

TEST_F(ConfigTest, AllWrongValuesAreToldAtOnce) {
  EXPECT_THAT(Parse({"--threads=x", "--cache-bytes=y"}),
              AllOf(ViolatesField("--threads"), ViolatesField("--cache-bytes")));
}

TEST_F(ConfigTest, SameAddressTwiceIsRefusedUnlessAnyPortWillDo) {
  EXPECT_THAT(Parse({"--listen", "a:1", "--listen", "a:1"}), ViolatesField("--listen"));
  EXPECT_OK(Parse({"--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0"}));
}

TEST_F(ConfigTest, UnknownFlagsAndRepeatedSingleFlagsAreRefused) {
  EXPECT_THAT(Parse({"--tls-cert", "x"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--tls-cert")));
  EXPECT_THAT(Parse({"--threads=1", "--threads=2"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--threads")));
  EXPECT_THAT(Parse({"stray"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stray")));
}

TEST_F(ConfigTest, UnknownNamesInTheFileAreRefused) {
  File("thread = 1\n");
  EXPECT_THAT(Parse(), ViolatesField("thread"));
  File("[server]\nthreads = 1\n");
  EXPECT_THAT(Parse(), ViolatesField("server.threads"));
}

TEST_F(ConfigTest, MissingFileIsRefusedByName) {
  EXPECT_THAT(Parse({"--config", "/no/such.toml"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/no/such.toml")));
}

TEST_F(ConfigTest, ActionsAreRecognised) {
  EXPECT_EQ(Parse()->action, Action::kServe);
  EXPECT_EQ(Parse({"--print-config"})->action, Action::kPrintConfig);
  EXPECT_EQ(Parse({"--check-config"})->action, Action::kCheckConfig);
  EXPECT_EQ(Parse({"--version"})->text, "posenc-server 9.9.9\n");
}

TEST_F(ConfigTest, HelpTeachesUnitsDefaultsEnvironmentAndExamples) {
  const std::string help = Parse({"--help"})->text;
  for (const char* text : {"--cache-bytes", "512MiB", "POSENC_CACHE_BYTES", "Listeners", "Shutdown",
                           "Examples:", "1GiB", "0.0.0.0:50051", "Exit codes"}) {
    EXPECT_THAT(help, HasSubstr(text));
  }
}

TEST_F(ConfigTest, PrintedConfigurationNamesOrigins) {
  Environment("POSENC_THREADS", "2");
  const std::string text = PrintConfig(Parse({"--cache-bytes", "32MiB"})->values);
  EXPECT_THAT(text, HasSubstr("cache-bytes = \"32MiB\"  # command line\n"));
  EXPECT_THAT(text, HasSubstr("threads = \"2\"  # POSENC_THREADS\n"));
  EXPECT_THAT(text, HasSubstr("listen = [\"0.0.0.0:50051\"]  # default\n"));
}

TEST_F(ConfigTest, PrintedConfigurationReadsBackTheSame) {
  const std::vector<std::string> args = {"--listen", "127.0.0.1:0", "--listen", "unix:/tmp/a b", "--warm", "a \"b\"",
                                         "--admin-listen", "", "--stall-timeout", "2m"};
  const std::string first = PrintConfig(Parse(args)->values);
  File(first);
  const auto again = Parse();
  ASSERT_OK(again);
  EXPECT_THAT(Texts(again->config.listen), ElementsAre("127.0.0.1:0", "unix:/tmp/a b"));
  EXPECT_EQ(again->config.admin_listen, std::nullopt);
  EXPECT_THAT(again->config.warm, ElementsAre("a \"b\""));
  EXPECT_EQ(again->config.stall_timeout, absl::Minutes(2));
}

}  // namespace
}  // namespace posenc

#include "server/app/server.h"

#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What the log of a server says that is told to stop before it starts.
std::string LogOf(std::optional<size_t> memory_limit) {
  ConfigSurroundings surroundings;
  surroundings.environment = [](const std::string&) { return std::nullopt; };
  surroundings.memory_limit = memory_limit;
  const auto invocation =
      ParseInvocation({"--listen", "127.0.0.1:0", "--admin-listen=", "--cache-bytes", "1GiB"}, surroundings);
  EXPECT_OK(invocation);
  std::ostringstream out;
  Logger log(LogFormat::kText, LogLevel::kInfo, &out);
  StopRequest stop;
  stop.Request("test");
  const std::shared_ptr<const TensorCatalog> catalog(std::shared_ptr<void>(), &EmptyCatalog());
  EXPECT_OK(Server(invocation->config, catalog, {}, log, stop).Run());
  return out.str();
}

TEST(ServerTest, WarnsOfABudgetThatTheContainerCannotGive) {
  const std::string warning = "no room below the container's memory limit";
  EXPECT_THAT(LogOf(size_t{1} << 30), HasSubstr(warning));
  EXPECT_THAT(LogOf(size_t{2} << 30), Not(HasSubstr(warning)));
  EXPECT_THAT(LogOf(std::nullopt), Not(HasSubstr(warning)));
}

}  // namespace
}  // namespace posenc

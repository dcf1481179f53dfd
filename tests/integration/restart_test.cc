#include <optional>

#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/integration/process.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

// A server that can crash and come back on its port.
class RestartTest : public ::testing::Test {
 protected:
  void CrashAndRestart() {
    const int port = server_->port();
    server_.reset();
    server_.emplace(std::vector<std::string>{}, port);
  }

  std::optional<ServerProcess> server_{std::in_place};
  Client client_{MakeConnection(server_->target())};
  Client local_{MakeLocalConnection()};
};

TEST_F(RestartTest, ClientOutlivesACrashOfTheServer) {
  const Rope rope{.head_dim = 128, .max_len = 1000};
  const absl::StatusOr<Table> before = client_.Get(rope);
  ASSERT_OK(before);
  CrashAndRestart();
  const absl::StatusOr<Table> after = client_.Get(rope);
  ASSERT_OK(after);
  EXPECT_TRUE(ContentOf(*after) == ContentOf(*before));
}

TEST_F(RestartTest, StreamGoesOnWhereTheCrashBrokeIt) {
  const Sinusoidal table{.d_model = 1024, .max_len = 1 << 16};
  std::string received;
  int chunks = 0;
  const absl::Status status = client_.Stream(table, {}, [&](const Chunk& chunk) {
    for (const auto& tensor : chunk.tensors) {
      received.append(reinterpret_cast<const char*>(tensor.data()), tensor.size());
    }
    if (++chunks == 3) CrashAndRestart();
    return absl::OkStatus();
  });
  ASSERT_OK(status);
  const absl::StatusOr<Table> expected = local_.Get(table);
  ASSERT_OK(expected);
  EXPECT_TRUE(received == ContentOf(*expected).bytes[0]);
}

}  // namespace
}  // namespace posenc

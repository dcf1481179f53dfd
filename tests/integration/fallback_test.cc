#include "posenc/fallback.h"

#include <optional>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "posenc/verified.h"
#include "tests/integration/process.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A server that can crash and come back on its port, and a client that can do without.
class FallbackTest : public ::testing::Test {
 protected:
  void ExpectTable() {
    const absl::StatusOr<Table> table = client_.Get(rope_);
    ASSERT_OK(table);
    EXPECT_TRUE(ContentOf(*table) == expected_);
  }

  FallbackStats stats() const { return connection_->stats(); }

  std::optional<ServerProcess> server_{std::in_place};
  const int port_ = server_->port();
  const std::shared_ptr<FallbackConnection> connection_ = MakeConnectionWithFallback(
      server_->target(), {},
      {.initial_pause = absl::Milliseconds(1), .max_pause = absl::Milliseconds(100)});
  Client client_{connection_};
  const Rope rope_{.head_dim = 128, .max_len = 1000};
  const TableContent expected_ = ContentOf(*Client(MakeLocalConnection()).Get(rope_));
};

TEST_F(FallbackTest, ServiceAnswersWhileItRuns) {
  ExpectTable();
  EXPECT_EQ(stats().answered_by_service, 1u);
  EXPECT_EQ(stats().answered_locally, 0u);
}

TEST_F(FallbackTest, NobodyListensAndTheTableIsComputed) {
  server_.reset();
  ExpectTable();
  EXPECT_EQ(stats().answered_locally, 1u);
  EXPECT_FALSE(stats().service_in_use);
  EXPECT_THAT(stats().last_reason, HasSubstr("UNAVAILABLE"));
}

TEST_F(FallbackTest, ServiceThatComesBackIsUsedAgain) {
  ExpectTable();
  server_.reset();
  ExpectTable();
  EXPECT_EQ(stats().answered_locally, 1u);
  server_.emplace(std::vector<std::string>{}, port_);
  // gRPC itself looks for the server at most every two seconds.
  const absl::Time give_up = absl::Now() + absl::Seconds(60);
  while (stats().answered_by_service < 2 && absl::Now() < give_up) ExpectTable();
  EXPECT_EQ(stats().answered_by_service, 2u);
  EXPECT_TRUE(stats().service_in_use);
}

TEST_F(FallbackTest, ProbesConnectOrSayThatTheyCouldNot) {
  const std::shared_ptr<Connection> service = MakeConnection(server_->target());
  EXPECT_EQ(*service->Probe(absl::Seconds(60)), HealthStatus::kServing);
  server_.reset();
  // The first one may find out only now that the connection is dead.
  EXPECT_FALSE(service->Probe(absl::Milliseconds(50)).ok());
  EXPECT_THAT(service->Probe(absl::Milliseconds(50)),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no connection within 50ms")));
  server_.emplace(std::vector<std::string>{}, port_);
  EXPECT_EQ(*service->Probe(absl::Seconds(60)), HealthStatus::kServing);
}

TEST_F(FallbackTest, StreamGoesOnHereWhereACrashBrokeIt) {
  const Sinusoidal large{.d_model = 1024, .max_len = 1 << 15};
  std::string received;
  int chunks = 0;
  ASSERT_OK(client_.Stream(large, {}, [&](const Chunk& chunk) {
    received.append(reinterpret_cast<const char*>(chunk.tensors[0].data()), chunk.tensors[0].size());
    if (++chunks == 3) server_->Kill();
    return absl::OkStatus();
  }));
  EXPECT_TRUE(received == ContentOf(*Client(MakeLocalConnection()).Get(large)).bytes[0]);
  EXPECT_EQ(stats().continued_locally, 1u);
  EXPECT_EQ(stats().answered_locally, 1u);
}

TEST_F(FallbackTest, ReadEndsInTheSameMemoryWhenTheServerIsGone) {
  ExpectTable();
  server_->Kill();
  std::string cos(expected_.bytes[0].size(), '\0');
  std::string sin(cos.size(), '\0');
  ASSERT_OK(client_.ReadInto(rope_, {}, {std::as_writable_bytes(std::span(cos)),
                                         std::as_writable_bytes(std::span(sin))}));
  EXPECT_TRUE(cos == expected_.bytes[0] && sin == expected_.bytes[1]);
  EXPECT_EQ(stats().answered_locally, 1u);
}

TEST_F(FallbackTest, TableThatNobodyElseHasNamesBothErrors) {
  server_.reset();
  EXPECT_THAT(client_.Get(Learned{.name = "wpe"}),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("127.0.0.1:"), HasSubstr("computed here"), HasSubstr("wpe"))));
  EXPECT_EQ(stats().failed, 1u);
}

TEST_F(FallbackTest, VerifiedTablesFallBackToUnverifiedOnes) {
  const auto verified = MakeVerifiedLocalConnection(
      MakeConnection(server_->target(), {.retry = {.max_attempts = 1}, .wait_for_ready = false}));
  const auto connection = MakeConnectionWithFallback(verified);
  EXPECT_TRUE(ContentOf(*Client(connection).Get(rope_)) == expected_);
  EXPECT_EQ(verified->stats().verified_answers, 1u);
  server_->Kill();
  EXPECT_TRUE(ContentOf(*Client(connection).Get(rope_)) == expected_);
  EXPECT_EQ(connection->stats().answered_locally, 1u);
}

}  // namespace
}  // namespace posenc

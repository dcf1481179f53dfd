#include "client/fallback/fallback_connection.h"

#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/scripted_connection.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kRows = 10;

// A service that can go away, and a clock that stands still until a test moves it.
class FallbackConnectionTest : public ::testing::Test {
 protected:
  FallbackConnectionTest() { service_->rows_per_chunk = 2; }

  void Break(absl::Status status = absl::UnavailableError("gone")) {
    service_->on_call = [status] { return status; };
  }
  void BreakStreamsAtRow(int64_t broken) {
    service_->on_chunk = [broken](int64_t row) {
      return row == broken ? absl::UnavailableError("gone") : absl::OkStatus();
    };
  }
  void Repair() {
    service_->on_call = [] { return absl::OkStatus(); };
  }

  // The numbers of the table, wherever they came from.
  void ExpectTable() {
    const absl::StatusOr<Table> table = client_.Get(table_);
    ASSERT_OK(table);
    EXPECT_THAT(table->tensor<float>("table"), ElementsAreArray(expected_.tensor<float>("table")));
  }

  // Lets the probe that a call began come to its end.
  void RunProbe() {
    ASSERT_TRUE(beside_);
    std::exchange(beside_, nullptr)();
  }

  FallbackStats stats() const { return connection_->stats(); }

  const Sinusoidal table_{.d_model = 4, .max_len = kRows};
  const Table expected_ = *Client(MakeLocalConnection()).Get(table_);
  absl::Time now_ = absl::UnixEpoch();
  double random_ = 1.0;
  std::function<void()> beside_;
  const std::shared_ptr<ScriptedConnection> service_ = std::make_shared<ScriptedConnection>();
  const std::shared_ptr<FallbackConnection> connection_ = std::make_shared<ServiceOrLocalConnection>(
      service_, MakeLocalConnection(), FallbackOptions{},
      RetryEnvironment{.now = [this] { return now_; }, .sleep = {}, .random = [this] { return random_; }},
      [this](std::function<void()> task) { beside_ = std::move(task); });
  Client client_{connection_};
};

TEST_F(FallbackConnectionTest, ServiceAnswersWhileItCan) {
  ExpectTable();
  ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Health", "Fetch", "Fetch"));
  EXPECT_EQ(stats().answered_by_service, 2u);
  EXPECT_EQ(stats().answered_locally, 0u);
  EXPECT_TRUE(stats().service_in_use);
  EXPECT_THAT(stats().last_reason, IsEmpty());
}

TEST_F(FallbackConnectionTest, ServiceThatIsNotThereCostsOneQuestion) {
  Break();
  for (int i = 0; i < 3; ++i) ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Health"));
  EXPECT_EQ(stats().answered_locally, 3u);
  EXPECT_EQ(stats().outages, 1u);
  EXPECT_FALSE(stats().service_in_use);
  EXPECT_THAT(stats().last_reason, HasSubstr("gone"));
  EXPECT_EQ(stats().last_outage, now_);
}

TEST_F(FallbackConnectionTest, ServiceThatGoesAwayIsNotWaitedForAgain) {
  ExpectTable();
  Break();
  service_->ForgetCalls();
  for (int i = 0; i < 3; ++i) ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Fetch"));
  EXPECT_EQ(stats().answered_by_service, 1u);
  EXPECT_EQ(stats().answered_locally, 3u);
}

TEST_F(FallbackConnectionTest, ServiceThatComesBackIsUsedAgain) {
  Break();
  ExpectTable();
  Repair();
  now_ += absl::Seconds(1);
  service_->ForgetCalls();
  ExpectTable();
  EXPECT_THAT(service_->calls(), IsEmpty());  // nobody waits for the probe
  RunProbe();
  ExpectTable();
  ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Health", "Fetch", "Fetch"));
  EXPECT_TRUE(stats().service_in_use);
  EXPECT_EQ(stats().outages, 1u);
  EXPECT_EQ(stats().answered_locally, 2u);
}

TEST_F(FallbackConnectionTest, PausesDoubleUpToTheirLimit) {
  Break();
  ExpectTable();
  for (const int seconds : {1, 2, 4, 8, 16, 30, 30}) {
    service_->ForgetCalls();
    now_ += absl::Seconds(seconds) - absl::Milliseconds(1);
    ExpectTable();
    EXPECT_THAT(service_->calls(), IsEmpty()) << seconds;
    EXPECT_FALSE(beside_) << seconds;
    now_ += absl::Milliseconds(1);
    ExpectTable();
    RunProbe();
    EXPECT_THAT(service_->calls(), ElementsAre("Health")) << seconds;
  }
  EXPECT_EQ(stats().outages, 1u);
}

TEST_F(FallbackConnectionTest, ChanceTakesUpToHalfOfAPause) {
  random_ = 0.0;
  Break();
  ExpectTable();
  service_->ForgetCalls();
  now_ += absl::Milliseconds(499);
  ExpectTable();
  EXPECT_FALSE(beside_);
  now_ += absl::Milliseconds(1);
  ExpectTable();
  RunProbe();
  EXPECT_THAT(service_->calls(), ElementsAre("Health"));
}

TEST_F(FallbackConnectionTest, OneProbeAtATimeBesideTheCalls) {
  Break();
  ExpectTable();
  now_ += absl::Seconds(1);
  ExpectTable();
  const auto first = std::exchange(beside_, nullptr);
  now_ += absl::Hours(1);
  ExpectTable();
  EXPECT_FALSE(beside_);
  first();
  now_ += absl::Hours(1);
  ExpectTable();
  EXPECT_TRUE(beside_);
}

TEST_F(FallbackConnectionTest, ProbesHaveAThreadOfTheirOwn) {
  const auto service = std::make_shared<ScriptedConnection>();
  const auto connection = MakeConnectionWithFallback(service, nullptr, {.initial_pause = absl::ZeroDuration()});
  Client client(connection);
  service->on_call = [] { return absl::UnavailableError("gone"); };
  EXPECT_OK(client.Get(table_));
  const auto caller = std::this_thread::get_id();
  absl::Notification probed;
  service->on_call = [&] {
    EXPECT_NE(std::this_thread::get_id(), caller);
    service->on_call = [] { return absl::OkStatus(); };
    probed.Notify();
    return absl::OkStatus();
  };
  EXPECT_OK(client.Get(table_));
  probed.WaitForNotification();
  EXPECT_EQ(connection->stats().answered_locally, 2u);
}

TEST_F(FallbackConnectionTest, OneCallProbesWhileOthersAreComputed) {
  service_->on_call = [this] {
    service_->on_call = [] { return absl::OkStatus(); };
    ExpectTable();  // while the first call waits for its answer
    return absl::OkStatus();
  };
  ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Health", "Fetch"));
  EXPECT_EQ(stats().answered_locally, 1u);
}

TEST_F(FallbackConnectionTest, ServiceThatIsNotServingIsLeftAlone) {
  service_->health = HealthStatus::kNotServing;
  ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Health"));
  EXPECT_THAT(stats().last_reason, HasSubstr("not serving"));
}

TEST_F(FallbackConnectionTest, ServiceWithoutHealthIsUsed) {
  service_->on_call = [this] {
    return service_->calls().size() == 1 ? absl::UnimplementedError("health") : absl::OkStatus();
  };
  ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Health", "Fetch"));
}

TEST_F(FallbackConnectionTest, DeadlineBeforeTheAnswerIsAnOutage) {
  ExpectTable();
  Break(absl::DeadlineExceededError("30 s"));
  ExpectTable();
  EXPECT_EQ(stats().answered_locally, 1u);
  EXPECT_EQ(stats().outages, 1u);
}

TEST_F(FallbackConnectionTest, ImpatientCallerDoesNotDecideForAll) {
  ExpectTable();
  Break(absl::DeadlineExceededError("1 ms"));
  EXPECT_OK(client_.Get(table_, {.timeout = absl::Milliseconds(1)}));
  EXPECT_EQ(stats().answered_locally, 1u);
  EXPECT_EQ(stats().outages, 0u);
  EXPECT_OK(client_.Get(table_, {.timeout = absl::Milliseconds(500)}));  // as long as a probe has
  EXPECT_EQ(stats().outages, 1u);
}

TEST_F(FallbackConnectionTest, EveryOtherErrorIsAnAnswer) {
  ExpectTable();
  for (const auto code : {absl::StatusCode::kInvalidArgument, absl::StatusCode::kResourceExhausted,
                          absl::StatusCode::kDataLoss, absl::StatusCode::kInternal,
                          absl::StatusCode::kUnauthenticated}) {
    Break({code, "no"});
    EXPECT_THAT(client_.Get(table_), StatusIs(code, "no"));
  }
  EXPECT_EQ(stats().answered_locally, 0u);
  EXPECT_TRUE(stats().service_in_use);
}

TEST_F(FallbackConnectionTest, LocalRefusalsAreThoseOfTheService) {
  Break();
  EXPECT_THAT(client_.Get(Sinusoidal{.d_model = -1}), ViolatesField("spec.sinusoidal.d_model"));
  EXPECT_EQ(stats().answered_locally, 1u);
}

TEST_F(FallbackConnectionTest, DescriptionsAndModelsAreComputedToo) {
  Break();
  EXPECT_EQ(client_.Describe(table_)->key, expected_.key());
  EXPECT_OK(client_.ResolveModel({.config_json = R"({"model_type": "llama", "hidden_size": 64,
      "num_attention_heads": 4, "max_position_embeddings": 32})"}));
  EXPECT_EQ(stats().answered_locally, 2u);
}

TEST_F(FallbackConnectionTest, BrokenStreamGoesOnHereAtTheNextRow) {
  BreakStreamsAtRow(6);
  std::vector<std::byte> received;
  std::vector<int64_t> rows;
  ASSERT_OK(client_.Stream(table_, {}, [&](const Chunk& chunk) {
    rows.push_back(chunk.first_row);
    received.insert(received.end(), chunk.tensors[0].begin(), chunk.tensors[0].end());
    return absl::OkStatus();
  }));
  EXPECT_THAT(rows, ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(received, ElementsAreArray(expected_.bytes("table")));
  EXPECT_EQ(stats().continued_locally, 1u);
}

TEST_F(FallbackConnectionTest, BrokenReadEndsInTheSameMemory) {
  BreakStreamsAtRow(6);
  std::vector<float> numbers(kRows * 4);
  int asked = 0;
  ASSERT_OK(client_.Stream({.spec = TableRequest(table_).spec(), .destinations = [&](const SliceInfo&) {
    ++asked;
    return std::vector{std::as_writable_bytes(std::span(numbers))};
  }}));
  EXPECT_EQ(asked, 1);
  EXPECT_THAT(numbers, ElementsAreArray(expected_.tensor<float>("table")));
}

TEST_F(FallbackConnectionTest, DeadlineBehindTheFirstRowsIsAnAnswer) {
  service_->on_chunk = [](int64_t row) {
    return row == 6 ? absl::DeadlineExceededError("slow") : absl::OkStatus();
  };
  const absl::Status status = client_.Stream(table_, {}, [](const Chunk&) { return absl::OkStatus(); });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded, "slow"));
  EXPECT_EQ(stats().outages, 0u);
}

TEST_F(FallbackConnectionTest, CallersOwnErrorsSayNothingAboutTheService) {
  int chunks = 0;
  const absl::Status status = client_.Stream(table_, {}, [&](const Chunk&) {
    return ++chunks == 2 ? absl::UnavailableError("mine") : absl::OkStatus();
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, "mine"));
  EXPECT_EQ(chunks, 2);
  EXPECT_EQ(stats().outages, 0u);
}

TEST_F(FallbackConnectionTest, StreamOfAnotherTableDoesNotGoOn) {
  service_->other_table = TableRequest(Sinusoidal{.d_model = 4, .max_len = kRows, .base = 7}).spec();
  BreakStreamsAtRow(6);
  const absl::Status status = client_.Stream(table_, {}, [](const Chunk&) { return absl::OkStatus(); });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, HasSubstr(expected_.key())));
}

TEST_F(FallbackConnectionTest, ErrorsOfBothSidesAreNamed) {
  ExpectTable();
  Break();
  EXPECT_THAT(client_.Get(Learned{.name = "wpe"}),
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr("gone"), HasSubstr("wpe"))));
  EXPECT_EQ(stats().failed, 1u);
}

TEST_F(FallbackConnectionTest, WhatOnlyTheServiceHasIsAlwaysAskedOfIt) {
  Break();
  ExpectTable();
  Repair();
  service_->ForgetCalls();
  // This service has no such table either.
  EXPECT_THAT(client_.Get(Learned{.name = "wpe"}), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(service_->calls(), ElementsAre("Fetch"));
  EXPECT_EQ(stats().answered_by_service, 1u);
  EXPECT_TRUE(stats().service_in_use);
}

TEST_F(FallbackConnectionTest, StoppedCallSaysNothingAboutTheService) {
  Break();
  ExpectTable();
  Break(absl::CancelledError("stopped by the caller"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(client_.Get(Learned{.name = "wte"}, {.stop = stop.get_token()}),
              StatusIs(absl::StatusCode::kCancelled, _));
  EXPECT_FALSE(stats().service_in_use);
}

TEST_F(FallbackConnectionTest, CancelThatNobodyAskedForIsAnOutage) {
  ExpectTable();
  Break(absl::CancelledError("drain"));
  ExpectTable();
  EXPECT_EQ(stats().answered_locally, 1u);
  EXPECT_EQ(stats().outages, 1u);
  EXPECT_THAT(stats().last_reason, HasSubstr("drain"));
}

TEST_F(FallbackConnectionTest, StoredTensorOfAnotherDigestIsAskedOfTheService) {
  const auto local = std::make_shared<ScriptedConnection>();
  local->on_call = [] { return absl::FailedPreconditionError("learned.content_sha256"); };
  Client client(MakeConnectionWithFallback(service_, local, {.initial_pause = absl::Hours(1)}));
  Break();
  EXPECT_THAT(client.Get(table_), StatusIs(absl::StatusCode::kUnavailable, _));
  Repair();
  EXPECT_OK(client.Get(table_));
}

TEST_F(FallbackConnectionTest, BoundOnTablesHoldsHereToo) {
  Client client(MakeConnectionWithFallback("unix:/nowhere/posenc.sock", {.max_table_bytes = 64}));
  EXPECT_THAT(client.Get(table_), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("at most 64")));
}

TEST_F(FallbackConnectionTest, WhatIsAboutTheServiceGoesThereAlone) {
  Break();
  EXPECT_THAT(client_.Warm({}), StatusIs(absl::StatusCode::kUnavailable, "gone"));
  EXPECT_THAT(client_.ListTables(), StatusIs(absl::StatusCode::kUnavailable, "gone"));
  EXPECT_THAT(client_.EvictAll(), StatusIs(absl::StatusCode::kUnavailable, "gone"));
  EXPECT_THAT(client_.ServerInfo(), StatusIs(absl::StatusCode::kUnavailable, "gone"));
  EXPECT_THAT(client_.Health(), StatusIs(absl::StatusCode::kUnavailable, "gone"));
  EXPECT_THAT(client_.Stream(StreamParams{.spec = TableRequest(table_).spec(), .checksums_only = true}),
              StatusIs(absl::StatusCode::kUnavailable, "gone"));
  EXPECT_EQ(stats().answered_locally, 0u);
}

}  // namespace
}  // namespace posenc

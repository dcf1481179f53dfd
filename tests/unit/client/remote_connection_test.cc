#include "client/remote/remote_connection.h"

#include <set>
#include <thread>

#include "absl/synchronization/notification.h"
#include "client/remote/channels.h"
#include "posenc/async.h"
#include "posenc/near_cache.h"
#include "proto/status_codec.h"
#include "tests/unit/client/remote_fixture.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kRows = FaultyService::kRows;

TEST_F(RemoteConnectionTest, SmallAnswersComeInOneMessage) {
  const auto table = client_->Get(small_);
  ASSERT_OK(table);
  EXPECT_EQ(table->key(), Client(MakeLocalConnection()).Get(small_)->key());
  EXPECT_THAT(table->shape("table"), ElementsAre(kRows, 2));
  EXPECT_EQ(table->tensor<float>("table")[19], -9);
  EXPECT_THAT(service_.skips(), SizeIs(0));
}

TEST_F(RemoteConnectionTest, LargeAnswersAreStreamed) {
  const auto table = client_->Get(Sinusoidal{.d_model = 1024, .max_len = 5000});
  ASSERT_OK(table);
  EXPECT_EQ(table->tensor<float>("table")[9 * 1024 + 1], -9);
  EXPECT_THAT(service_.skips(), ElementsAre(0));
}

TEST_F(RemoteConnectionTest, FewColumnsOfManyLongRowsAreStreamed) {
  const Sinusoidal wide{.d_model = 8192, .max_len = 1 << 20};
  const Selection few{.positions = std::vector<int64_t>(32769), .columns = Range{0, 2}};
  EXPECT_OK(client_->Slice(wide, few));
  EXPECT_THAT(service_.skips(), ElementsAre(0));
  EXPECT_OK(client_->Slice(wide, {.positions = std::vector<int64_t>(32768), .columns = Range{0, 2}}));
  EXPECT_THAT(service_.skips(), SizeIs(1));
}

TEST_F(RemoteConnectionTest, StreamsWhereTheServerAllowsNoMessageOfThatSize) {
  service_.on_call = [](int call) {
    return call == 1 ? grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "use StreamSlice")
                     : grpc::Status::OK;
  };
  EXPECT_OK(client_->Get(small_));
  EXPECT_THAT(service_.skips(), ElementsAre(0));
}

TEST_F(RemoteConnectionTest, BrokenStreamGoesOnAtTheNextRow) {
  service_.on_chunk = [](int call, v1::StreamSliceResponse& chunk) {
    return chunk.first_row() == 4 * call ? Unavailable() : grpc::Status::OK;
  };
  ASSERT_OK(Read());
  ExpectAllRows();
  EXPECT_THAT(service_.skips(), ElementsAre(0, 4, 8));
}

TEST_F(RemoteConnectionTest, EveryRowIsDeliveredOnce) {
  service_.on_chunk = [](int call, v1::StreamSliceResponse& chunk) {
    return call == 1 && chunk.first_row() == 6 ? Unavailable() : grpc::Status::OK;
  };
  std::vector<int64_t> rows;
  ASSERT_OK(client_->Stream(small_, {}, [&](const Chunk& chunk) {
    rows.push_back(chunk.first_row);
    return absl::OkStatus();
  }));
  EXPECT_THAT(rows, ElementsAre(0, 2, 4, 6, 8));
}

TEST_F(RemoteConnectionTest, WrongChecksumIsReadAgain) {
  service_.on_chunk = [](int call, v1::StreamSliceResponse& chunk) {
    if (call == 1 && chunk.first_row() == 2) chunk.set_crc32c(1);
    return grpc::Status::OK;
  };
  ASSERT_OK(Read());
  ExpectAllRows();
  EXPECT_THAT(service_.skips(), ElementsAre(0, 2));
}

TEST_F(RemoteConnectionTest, PersistentlyWrongChecksumIsDataLoss) {
  EXPECT_THAT(ReadChanged([](auto& chunk) { chunk.set_crc32c(1); }),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("rows 0 to 2")));
  EXPECT_EQ(service_.calls(), RetryOptions().max_attempts);
}

TEST_F(RemoteConnectionTest, StreamThatEndsEarlyIsDataLoss) {
  service_.on_chunk = [](int, v1::StreamSliceResponse& chunk) {
    return chunk.first_row() == 4 ? grpc::Status(grpc::StatusCode::ABORTED, "end") : grpc::Status::OK;
  };
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kAborted, "end"));
  EXPECT_THAT(ReadChanged([](auto& chunk) { chunk.clear_tensors(), chunk.set_row_count(0); }),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("after 0 rows of 10")));
}

TEST_F(RemoteConnectionTest, CallerEndsAStreamWithItsOwnError) {
  int chunks = 0;
  EXPECT_THAT(client_->Stream(small_, {},
                              [&](const Chunk&) {
                                ++chunks;
                                return absl::UnavailableError("enough");
                              }),
              StatusIs(absl::StatusCode::kUnavailable, "enough"));
  EXPECT_EQ(chunks, 1);
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(RemoteConnectionTest, CallersFunctionsRunOnTheCallersThread) {
  std::set<std::thread::id> threads;
  StreamParams params{.spec = TableRequest(small_).spec()};
  params.destinations = [&](const SliceInfo&) -> absl::StatusOr<std::vector<std::span<std::byte>>> {
    threads.insert(std::this_thread::get_id());
    return std::vector<std::span<std::byte>>{std::as_writable_bytes(std::span(numbers_))};
  };
  EXPECT_OK(connection_->Stream(params));
  ExpectAllRows();
  params.on_chunk = [&](const Chunk&) {
    threads.insert(std::this_thread::get_id());
    return absl::OkStatus();
  };
  EXPECT_OK(connection_->Stream(params));
  EXPECT_THAT(threads, ElementsAre(std::this_thread::get_id()));
}

TEST_F(RemoteConnectionTest, ExceptionOfTheCallerEndsTheStream) {
  const auto throws = [](const Chunk&) -> absl::Status { throw std::runtime_error("the caller's"); };
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(static_cast<void>(client_->Stream(small_, {}, throws)), std::runtime_error);
  }
  EXPECT_OK(Read());
}

TEST_F(RemoteConnectionTest, QuestionForSharedMemoryIsAskedUntilItIsAnswered) {
  std::atomic<int> questions = 0;
  service_.on_open_shared = [&] { return ++questions, Unavailable(); };
  const Sinusoidal large{.d_model = 1024, .max_len = 4096};
  EXPECT_THAT(client_->Get(large), StatusIs(absl::StatusCode::kUnavailable, _));
  EXPECT_EQ(service_.calls(), 0);  // nor could the table have been asked for
  service_.on_open_shared = [&] {
    return ++questions, grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "an older server");
  };
  EXPECT_OK(client_->Get(large));
  EXPECT_OK(client_->Get(large));
  EXPECT_EQ(questions, 7);  // six attempts, and one that was answered
}

TEST_F(RemoteConnectionTest, AllThatAFetchTriesHasOneTime) {
  service_.on_open_shared = [&] {
    passed_ = absl::Hours(2);
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "an older server");
  };
  EXPECT_OK(client_->Get(Sinusoidal{.d_model = 1024, .max_len = 4096}, {.timeout = absl::Hours(3)}));
  EXPECT_LT(absl::FromChrono(service_.deadline), absl::Now() + absl::Hours(4));
}

TEST_F(RemoteConnectionTest, CallsWithoutTimeAreNotSent) {
  for (const absl::Duration timeout : {-absl::InfiniteDuration(), -absl::Nanoseconds(1), absl::ZeroDuration()}) {
    EXPECT_THAT(client_->Get(small_, {.timeout = timeout}),
                StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("no time is left")));
  }
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(RemoteConnectionTest, TimesBeyondAllClocksAreTime) {
  const auto cache = MakeCachingConnection(connection_);
  for (const absl::Duration timeout : {absl::InfiniteDuration(), absl::Hours(24 * 366 * 300)}) {
    EXPECT_OK(client_->Get(small_, {.timeout = timeout}));
    EXPECT_OK(AsyncClient(connection_).Get(small_, {.timeout = timeout}).get());
    cache->Clear();
    EXPECT_OK(Client(cache).Get(small_, {.timeout = timeout}));
  }
}

TEST_F(RemoteConnectionTest, RetriesWithDoublingDelays) {
  service_.on_call = [](int call) { return call < 4 ? Unavailable() : grpc::Status::OK; };
  EXPECT_OK(client_->Get(small_));
  EXPECT_THAT(sleeps_, ElementsAre(absl::Milliseconds(50), absl::Milliseconds(100), absl::Milliseconds(200)));
}

TEST_F(RemoteConnectionTest, SharedMemoryIsTriedAgainAfterAPause) {
  std::atomic<int> questions = 0;
  service_.on_open_shared = [&] { return ++questions, grpc::Status::OK; };
  service_.socket_path = "/nowhere/posenc.sock";
  const Sinusoidal large{.d_model = 1024, .max_len = 512};
  int expected_questions = 0;
  for (const absl::Duration pause : {absl::ZeroDuration(), absl::Seconds(6), absl::Seconds(11), absl::Hours(1)}) {
    passed_ += pause;
    EXPECT_OK(client_->Get(large));
    EXPECT_EQ(questions, ++expected_questions);
    EXPECT_OK(client_->Get(large));
    EXPECT_EQ(questions, expected_questions);
  }
}

TEST_F(RemoteConnectionTest, ErrorNamesTargetAttemptsAndTime) {
  service_.on_call = [](int) { return Unavailable(); };
  EXPECT_THAT(client_->Get(small_),
              StatusIs(absl::StatusCode::kUnavailable,
                       ::testing::AllOf(HasSubstr(service_.target() + ": gone"), HasSubstr("6 attempts"))));
}

TEST_F(RemoteConnectionTest, FieldViolationsArrive) {
  service_.on_call = [](int) {
    Violations bad;
    bad.Add("spec.sinusoidal.d_model", 0, "1 to 65536");
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "bad", EncodeStatusDetails(bad.ToStatus()));
  };
  EXPECT_THAT(client_->Get(small_), ViolatesField("spec.sinusoidal.d_model"));
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(RemoteConnectionTest, DeadlineEndsACallThatHangs) {
  const auto test_is_over = std::make_shared<absl::Notification>();
  service_.on_call = [test_is_over](int) {
    test_is_over->WaitForNotification();
    return grpc::Status::OK;
  };
  EXPECT_THAT(client_->Get(small_, {.timeout = absl::Milliseconds(50)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr(service_.target())));
  test_is_over->Notify();
}

TEST_F(RemoteConnectionTest, TextThatIsNotUtf8IsNotSent) {
  for (const ModelQuery& query : {ModelQuery{.config_json = "\xff"}, ModelQuery{.gguf_json = "\xff"}}) {
    EXPECT_THAT(client_->ResolveModel(query), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
  }
}

TEST_F(RemoteConnectionTest, TokenTravelsWithEveryCall) {
  Connect({.token = "secret"});
  EXPECT_OK(client_->Get(small_));
  EXPECT_EQ(service_.authorization, "Bearer secret");
}

TEST_F(RemoteConnectionTest, ManyThreadsShareOneClient) {
  service_.on_call = [](int call) { return call % 7 == 0 ? Unavailable() : grpc::Status::OK; };
  // A call may have every seventh number many times in a row.
  Connect({.retry = {.max_attempts = 1000, .initial_delay = absl::ZeroDuration(), .budget_tokens = 1e6}});
  std::atomic<int> good = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, client = *client_]() mutable {
      for (int n = 0; n < 50; ++n) good += client.Get(small_).ok();
    });
  }
  threads.clear();
  EXPECT_EQ(good, 400);
}

TEST(ChannelsTest, StreamsHaveAConnectionOfTheirOwnOnThisHostOnly) {
  const Channels here = MakeChannels("localhost:1", {.parallel_streams = 2});
  EXPECT_NE(here.streams, here.bulk.front());
  EXPECT_THAT(here.All(), ::testing::UnorderedElementsAre(here.small, here.streams, here.bulk[0], here.bulk[1]));
  const Channels away = MakeChannels("posenc:1", {});
  EXPECT_EQ(away.streams, away.bulk.front());
}

TEST(IsLocalTargetTest, KnowsThisHost) {
  for (const char* local : {"localhost:1", "127.0.0.1:1", "[::1]:1", "unix:/x", "dns:///localhost:1"}) {
    EXPECT_TRUE(IsLocalTarget(local)) << local;
  }
  for (const char* remote : {"posenc:1", "dns:///posenc:1", "localhost.example:1", "10.0.0.1:1"}) {
    EXPECT_FALSE(IsLocalTarget(remote)) << remote;
  }
}

}  // namespace
}  // namespace posenc

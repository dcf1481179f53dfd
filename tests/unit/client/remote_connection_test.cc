#include "client/remote/remote_connection.h"

#include <set>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/remote/channels.h"
#include "posenc/client.h"
#include "proto/status_codec.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/faulty_service.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kRows = FaultyService::kRows;

grpc::Status Unavailable() { return {grpc::StatusCode::UNAVAILABLE, "gone"}; }

// A client whose retries take no time.
class RemoteConnectionTest : public ::testing::Test {
 protected:
  RemoteConnectionTest() { Connect({}); }

  void Connect(const ConnectionOptions& options) {
    connection_ = std::make_shared<RemoteConnection>(
        service_.target(), options,
        RetryEnvironment{.now = [this] { return absl::Now() + passed_; },
                         .sleep = [this](absl::Duration time) { sleeps_.push_back(time); },
                         .random = [] { return 0.5; }});
    client_.emplace(connection_);
  }

  // Reads all rows by a stream; the memory is too small for nothing but what the service sends.
  absl::Status Read() {
    return client_->ReadInto(small_, {}, {std::as_writable_bytes(std::span(numbers_))});
  }

  void ExpectAllRows() const {
    for (int row = 0; row < kRows; ++row) {
      EXPECT_EQ(numbers_[2 * row], row);
      EXPECT_EQ(numbers_[2 * row + 1], -row);
    }
  }

  // Reads, with every chunk changed before it is sent.
  absl::Status ReadChanged(std::function<void(v1::StreamSliceResponse&)> change) {
    service_.on_chunk = [change](int, v1::StreamSliceResponse& chunk) {
      change(chunk);
      return grpc::Status::OK;
    };
    return Read();
  }

  FaultyService service_;
  std::shared_ptr<Connection> connection_;
  std::optional<Client> client_;
  std::vector<absl::Duration> sleeps_;
  absl::Duration passed_;  // time that a test lets pass
  const Sinusoidal small_{.d_model = 2, .max_len = kRows};
  std::array<float, 2 * kRows> numbers_{};
};

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

TEST_F(RemoteConnectionTest, AnswerThatChangesIsAborted) {
  service_.on_chunk = [](int call, v1::StreamSliceResponse& chunk) {
    if (call == 2) chunk.mutable_header()->set_table_key(std::string(64, 'a'));
    return call == 1 && chunk.first_row() == 4 ? Unavailable() : grpc::Status::OK;
  };
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kAborted, HasSubstr("changed")));
}

TEST_F(RemoteConnectionTest, HostileChunksAreErrors) {
  const std::vector<std::function<void(v1::StreamSliceResponse&)>> changes = {
      [](auto& chunk) { chunk.set_first_row(int64_t{1} << 60); },
      [](auto& chunk) { chunk.set_first_row(-2); },
      [](auto& chunk) { chunk.set_row_count(11); },
      [](auto& chunk) { chunk.set_row_count(-1); },
      [](auto& chunk) { chunk.set_row_count(1); },
      [](auto& chunk) { chunk.clear_header(); },
      [](auto& chunk) { chunk.mutable_tensors(0)->mutable_data()->push_back('x'); },
      [](auto& chunk) { chunk.mutable_tensors(0)->set_name("bias"); },
      [](auto& chunk) { chunk.mutable_tensors(0)->set_element_type(v1::ELEMENT_TYPE_F64); },
      [](auto& chunk) { *chunk.add_tensors() = chunk.tensors(0); },
      [](auto& chunk) { chunk.mutable_header()->set_row_count(5); },
      [](auto& chunk) { chunk.mutable_header()->set_size_bytes(1); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_THAT(ReadChanged(changes[i]), StatusIs(absl::StatusCode::kInternal, _)) << i;
  }
}

TEST_F(RemoteConnectionTest, HostileMessagesAreErrors) {
  service_.on_slice = [](v1::GetSliceResponse& response) {
    response.mutable_tensors(0)->set_shape(0, int64_t{1} << 40);
  };
  EXPECT_THAT(client_->Get(small_), StatusIs(absl::StatusCode::kInternal, HasSubstr("'table'")));
}

// Well-formed answers, each to another request than the client's.
template <typename Message>
std::vector<std::function<void(Message&)>> OtherAnswers() {
  const auto other_base = Client(MakeLocalConnection()).Get(Sinusoidal{.d_model = 2, .max_len = kRows, .base = 7.0});
  return {
      [key = other_base->key()](auto& message) { message.set_table_key(key); },
      [](auto& message) { message.set_table_key("key"); },
      [](auto& message) { message.clear_table_key(); },
      [](auto& message) { message.mutable_tensors(0)->set_name("cos"); },
      [](auto& message) { message.mutable_tensors(0)->clear_name(); },
      [](auto& message) { message.mutable_tensors(0)->set_element_type(v1::ELEMENT_TYPE_I32); },
      [](auto& message) { message.mutable_tensors(0)->set_shape(0, 2), message.mutable_tensors(0)->set_shape(1, kRows); },
      [](auto& message) { message.mutable_tensors(0)->add_shape(1); },
      [](auto& message) { message.clear_tensors(); },
  };
}

TEST_F(RemoteConnectionTest, AnswersToAnotherRequestAreErrors) {
  for (const auto& change : OtherAnswers<v1::GetSliceResponse>()) {
    v1::GetSliceResponse sent;
    service_.on_slice = [&](v1::GetSliceResponse& response) { change(response), sent = response; };
    EXPECT_THAT(client_->Get(small_), StatusIs(absl::StatusCode::kInternal, HasSubstr("not to the request")))
        << sent.ShortDebugString();
  }
  service_.on_slice = [](v1::GetSliceResponse& response) { response.Clear(); };
  EXPECT_THAT(client_->Get(small_), StatusIs(absl::StatusCode::kInternal, _));
}

TEST_F(RemoteConnectionTest, StreamsOfAnotherAnswerAreErrorsBeforeMemoryIsAskedFor) {
  StreamParams params{.spec = TableRequest(small_).spec()};
  int asked = 0;
  params.destinations = [&](const SliceInfo&) { return ++asked, absl::UnimplementedError("not to be asked"); };
  for (const auto& change : OtherAnswers<v1::SliceHeader>()) {
    service_.on_chunk = [&](int, v1::StreamSliceResponse& chunk) {
      if (chunk.has_header()) change(*chunk.mutable_header());
      return grpc::Status::OK;
    };
    EXPECT_THAT(connection_->Stream(params), StatusIs(absl::StatusCode::kInternal, _));
  }
  EXPECT_EQ(asked, 0);
}

TEST_F(RemoteConnectionTest, DescriptionsOfAnotherTableAreErrors) {
  EXPECT_OK(client_->Describe(small_));
  for (const auto& change : OtherAnswers<v1::DescribeTableResponse>()) {
    service_.on_describe = change;
    EXPECT_THAT(client_->Describe(small_), StatusIs(absl::StatusCode::kInternal, HasSubstr("not to the request")));
  }
  service_.on_describe = [](v1::DescribeTableResponse& response) { response.set_rows(11); };
  EXPECT_THAT(client_->Describe(small_), StatusIs(absl::StatusCode::kInternal, HasSubstr("11 rows")));
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

TEST_F(RemoteConnectionTest, ChecksumsOfMoreThanAMessageHoldsAreErrors) {
  const TableRequest long_table = Sinusoidal{.d_model = 2, .max_len = int64_t{1} << 40};
  StreamParams params{.spec = long_table.spec(), .checksums_only = true};
  params.on_chunk = [](const Chunk&) { return absl::OkStatus(); };
  EXPECT_THAT(client_->Stream(params), StatusIs(absl::StatusCode::kInternal, HasSubstr("more rows")));
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

TEST_F(RemoteConnectionTest, RetriesWithDoublingDelays) {
  service_.on_call = [](int call) { return call < 4 ? Unavailable() : grpc::Status::OK; };
  EXPECT_OK(client_->Get(small_));
  EXPECT_THAT(sleeps_, ElementsAre(absl::Milliseconds(50), absl::Milliseconds(100), absl::Milliseconds(200)));
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

TEST_F(RemoteConnectionTest, AnswersOverTheLimitAreRefused) {
  Connect({.max_table_bytes = 79});
  EXPECT_THAT(client_->Get(small_), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("79")));
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

TEST(RemoteConnectionRestartTest, FindsARestartedServer) {
  std::optional<FaultyService> service(std::in_place);
  const int port = service->port();
  // The server comes back while the client waits to retry.
  const auto restart = [&](absl::Duration) {
    if (!service) service.emplace(port);
  };
  Client client(std::make_shared<RemoteConnection>(
      service->target(), ConnectionOptions(),
      RetryEnvironment{.now = absl::Now, .sleep = restart, .random = [] { return 0.5; }}));
  const Sinusoidal small{.d_model = 2, .max_len = kRows};
  EXPECT_OK(client.Get(small));
  service.reset();
  EXPECT_OK(client.Get(small, {.timeout = absl::Seconds(10)}));
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

// Answers that are none, or none to the request.
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/client/remote_fixture.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::HasSubstr;

constexpr int kRows = FaultyService::kRows;

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
      [](auto& message) { message.mutable_tensors(0)->mutable_shape()->SwapElements(0, 1); },
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

TEST_F(RemoteConnectionTest, ChecksumsOfMoreThanAMessageHoldsAreErrors) {
  const TableRequest long_table = Sinusoidal{.d_model = 2, .max_len = int64_t{1} << 40};
  StreamParams params{.spec = long_table.spec(), .checksums_only = true};
  params.on_chunk = [](const Chunk&) { return absl::OkStatus(); };
  EXPECT_THAT(client_->Stream(params), StatusIs(absl::StatusCode::kInternal, HasSubstr("more rows")));
}

TEST_F(RemoteConnectionTest, AnswersOverTheLimitAreRefused) {
  Connect({.max_table_bytes = 79});
  EXPECT_THAT(client_->Get(small_), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("79")));
}

TEST_F(RemoteConnectionTest, AnswerThatChangesIsAborted) {
  service_.on_chunk = [](int call, v1::StreamSliceResponse& chunk) {
    if (call == 2) chunk.mutable_header()->set_table_key(std::string(64, 'a'));
    return call == 1 && chunk.first_row() == 4 ? Unavailable() : grpc::Status::OK;
  };
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kAborted, HasSubstr("changed")));
}

}  // namespace
}  // namespace posenc

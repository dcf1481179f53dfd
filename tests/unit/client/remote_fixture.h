// A client before a service that breaks as a test wants it; shared by the tests of RemoteConnection.

#ifndef POSENC_TESTS_UNIT_CLIENT_REMOTE_FIXTURE_H_
#define POSENC_TESTS_UNIT_CLIENT_REMOTE_FIXTURE_H_

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/time/clock.h"
#include "client/remote/remote_connection.h"
#include "posenc/client.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/faulty_service.h"

namespace posenc {

inline grpc::Status Unavailable() { return {grpc::StatusCode::UNAVAILABLE, "gone"}; }

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
    for (int row = 0; row < FaultyService::kRows; ++row) {
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
  const Sinusoidal small_{.d_model = 2, .max_len = FaultyService::kRows};
  std::array<float, 2 * FaultyService::kRows> numbers_{};
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_CLIENT_REMOTE_FIXTURE_H_

#include "client/remote/slice_call.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "posenc/specs.h"
#include "proto/spec_codec.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/faulty_service.h"

namespace posenc {
namespace {

constexpr int kMessages = FaultyService::kRows / 2;

// What `consume` is told of each message: its number, from 1.
class CallStreamTest : public ::testing::Test {
 protected:
  absl::Status Call(ConsumeOn where, const std::function<absl::Status(int number)>& consume) {
    grpc::ClientContext context;
    StandStill never;
    v1::StreamSliceRequest request;
    const SinusoidalSpec table{.d_model = 2, .max_len = FaultyService::kRows};
    *request.mutable_spec() = EncodeSpec({.family = table});
    threads_.clear();
    return CallStream(channel_, "/posenc.v1.PositionalEncodingService/StreamSlice", request, context,
                      where, never, [&](grpc::ByteBuffer&) {
                        threads_.push_back(std::this_thread::get_id());
                        return consume(static_cast<int>(threads_.size()));
                      });
  }

  FaultyService service_;
  const std::shared_ptr<grpc::Channel> channel_ =
      grpc::CreateChannel(service_.target(), grpc::InsecureChannelCredentials());
  std::vector<std::thread::id> threads_;  // of the messages
};

TEST_F(CallStreamTest, EveryMessageComesOnce) {
  for (const ConsumeOn where : {ConsumeOn::kCaller, ConsumeOn::kReceiver}) {
    EXPECT_OK(Call(where, [](int) { return absl::OkStatus(); }));
    EXPECT_EQ(threads_.size(), size_t{kMessages});
    EXPECT_EQ(threads_.front(), std::this_thread::get_id());
  }
}

TEST_F(CallStreamTest, CallerConsumesAllWhenItSaysSo) {
  EXPECT_OK(Call(ConsumeOn::kCaller, [](int) { return absl::OkStatus(); }));
  EXPECT_EQ(threads_, std::vector(kMessages, std::this_thread::get_id()));
}

TEST_F(CallStreamTest, ErrorOfAnyMessageEndsTheStream) {
  for (int bad = 1; bad <= kMessages; ++bad) {
    const auto consume = [&](int number) { return number == bad ? absl::DataLossError("bad") : absl::OkStatus(); };
    EXPECT_THAT(Call(ConsumeOn::kReceiver, consume), StatusIs(absl::StatusCode::kDataLoss, "bad"));
    EXPECT_EQ(threads_.size(), static_cast<size_t>(bad));
  }
}

TEST_F(CallStreamTest, ExceptionOfAnyMessageReachesTheCaller) {
  for (int bad = 1; bad <= kMessages; ++bad) {
    const auto consume = [&](int number) {
      return number == bad ? throw std::runtime_error("bad") : absl::OkStatus();
    };
    EXPECT_THROW(static_cast<void>(Call(ConsumeOn::kReceiver, consume)), std::runtime_error);
    EXPECT_EQ(threads_.size(), static_cast<size_t>(bad));
  }
}

}  // namespace
}  // namespace posenc

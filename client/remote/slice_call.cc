#include "client/remote/slice_call.h"

#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "proto/status_codec.h"

namespace posenc {
namespace {

constexpr size_t kMaxWaitingMessages = 2;

using Consume = std::function<absl::Status(grpc::ByteBuffer& message)>;

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& request) {
  const grpc::Slice slice(request.SerializeAsString());
  return {&slice, 1};
}

// Receives a stream on gRPC's threads. The caller's thread takes the messages with Next, or leaves the rest of
// them to gRPC's threads, then joins.
//
// Reads are started outside of the lock, since gRPC may run reactions inside of the start; and outside of
// reactions, which is what the hold is for: without it gRPC may be done with the call before.
class StreamReader : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  StreamReader(grpc::ClientContext& context, StandStill& still)
      : context_(context), still_(still), taken_(still.from_start) {}

  void Start(grpc::ByteBuffer request) {
    request_.Swap(&request);
    AddHold();
    StartWriteLast(&request_, grpc::WriteOptions());
    StartRead(&incoming_);
    StartCall();
  }

  // Waits for the next message; nothing when there will be none.
  std::optional<grpc::ByteBuffer> Next() {
    std::unique_lock lock(mutex_);
    AwaitMoving(lock, [&] { return !waiting_.empty() || reads_ended_; });
    if (waiting_.empty()) return std::nullopt;
    grpc::ByteBuffer message;
    message.Swap(&waiting_.front());
    waiting_.pop_front();
    const bool resume = std::exchange(paused_, false);
    lock.unlock();
    if (resume) StartRead(&incoming_);
    return message;
  }

  // Leaves all further messages to `consume`, on gRPC's threads; false while there are some for Next.
  bool LeaveRestTo(const Consume& consume) {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) return false;
    consume_ = &consume;
    return true;
  }

  // Waits until there are no more messages; returns, or throws, what ended consuming them.
  absl::Status AwaitRest() {
    std::unique_lock lock(mutex_);
    if (!AwaitMoving(lock, [&] { return reads_ended_; })) {
      lock.unlock();
      context_.TryCancel();
      lock.lock();
      changed_.wait(lock, [&] { return reads_ended_; });
    }
    if (thrown_) std::rethrow_exception(thrown_);
    return consumed_;
  }

  // Waits until gRPC has let go of this object. Requires: no more messages, or the call is cancelled.
  grpc::Status Join() {
    RemoveHold();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
    return status_;
  }

 private:
  // Waits for `what`; false, and it is noted, when nothing came for the time of a standstill.
  template <typename What>
  bool AwaitMoving(std::unique_lock<std::mutex>& lock, const What& what) {
    if (still_.limit == absl::InfiniteDuration()) {
      changed_.wait(lock, what);
      return true;
    }
    const auto limit = absl::ToChronoNanoseconds(still_.limit);
    uint64_t seen = arrived_;
    auto since = std::chrono::steady_clock::now();
    while (!what()) {
      // Not all that arrives notifies.
      changed_.wait_for(lock, limit / 4);
      const auto now = std::chrono::steady_clock::now();
      const uint64_t arrived = arrived_;
      if (!taken_ || arrived != seen) {
        seen = arrived;
        since = now;
      } else if (now - since >= limit && !what()) {
        still_.happened = true;
        return false;
      }
    }
    return true;
  }

  void OnReadInitialMetadataDone(bool) override {
    const std::lock_guard lock(mutex_);
    ++arrived_;
    taken_ = true;
  }

  void OnReadDone(bool ok) override {
    ++arrived_;
    std::unique_lock lock(mutex_);
    if (ok && consume_ != nullptr) {
      lock.unlock();
      return ConsumeIncoming();
    }
    if (ok) {
      waiting_.emplace_back().Swap(&incoming_);
      paused_ = waiting_.size() >= kMaxWaitingMessages;
    } else {
      reads_ended_ = true;
    }
    const bool read_on = ok && !paused_;
    changed_.notify_one();
    lock.unlock();
    if (read_on) StartRead(&incoming_);
  }

  // The next read begins behind it, so that no two threads consume.
  void ConsumeIncoming() {
    absl::Status consumed;
    std::exception_ptr thrown;
    try {
      consumed = (*consume_)(incoming_);
    } catch (...) {
      thrown = std::current_exception();
    }
    incoming_.Clear();
    if (consumed.ok() && !thrown) return StartRead(&incoming_);
    const std::lock_guard lock(mutex_);
    consumed_ = std::move(consumed);
    thrown_ = thrown;
    reads_ended_ = true;
    changed_.notify_one();
  }

  void OnDone(const grpc::Status& status) override {
    const std::lock_guard lock(mutex_);
    status_ = status;
    done_ = true;
    // Under the lock: the waiter destroys this object as soon as it can have the lock.
    changed_.notify_one();
  }

  grpc::ClientContext& context_;
  StandStill& still_;  // the calling thread's
  std::atomic<uint64_t> arrived_ = 0;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer incoming_;  // of the read that is under way
  std::mutex mutex_;
  std::condition_variable changed_;
  // All below guarded by mutex_.
  bool taken_;  // the time of a standstill counts
  std::deque<grpc::ByteBuffer> waiting_;
  bool paused_ = false;       // no read is under way, because enough messages are waiting
  bool reads_ended_ = false;  // there will be no more messages
  const Consume* consume_ = nullptr;  // takes the messages instead of the caller, once it is there
  absl::Status consumed_;             // an error of consume_
  std::exception_ptr thrown_;         // an exception of consume_
  bool done_ = false;
  grpc::Status status_;
};

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return DecodeStatus(status.error_code(), status.error_message(), status.error_details());
}

absl::Status CallStream(const std::shared_ptr<grpc::Channel>& channel, const char* method,
                        const google::protobuf::MessageLite& request, grpc::ClientContext& context,
                        ConsumeOn where, StandStill& still, const Consume& consume) {
  grpc::GenericStub stub(channel);
  StreamReader reader(context, still);
  stub.PrepareBidiStreamingCall(&context, method, grpc::StubOptions(), &reader);
  reader.Start(Serialize(request));
  // `consume` runs the caller's functions, which may throw: gRPC lets go of the reader before it is gone.
  absl::Cleanup abandon = [&] {
    context.TryCancel();
    reader.Join();
  };
  absl::Status consumed;
  while (std::optional<grpc::ByteBuffer> message = reader.Next()) {
    consumed = consume(*message);
    if (!consumed.ok()) break;
    message->Clear();
    if (where == ConsumeOn::kReceiver && reader.LeaveRestTo(consume)) {
      consumed = reader.AwaitRest();
      break;
    }
  }
  if (consumed.ok() && still.happened) {
    consumed = absl::UnavailableError(
        absl::StrCat("the stream brought nothing for ", absl::FormatDuration(still.limit)));
  }
  if (!consumed.ok()) context.TryCancel();
  std::move(abandon).Cancel();
  const grpc::Status status = reader.Join();
  return consumed.ok() ? FromGrpc(status) : consumed;
}

}  // namespace posenc

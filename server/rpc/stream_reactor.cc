#include "server/rpc/stream_reactor.h"

#include <grpcpp/alarm.h>

#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/rpc/exceptions.h"
#include "server/rpc/status_mapping.h"
#include "server/rpc/unary_reactor.h"
#include "server/rpc/wire.h"

namespace posenc {
namespace {

using Reactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;

class ReactedStream final : public StreamCall, public std::enable_shared_from_this<ReactedStream> {
 public:
  ReactedStream(grpc::CallbackServerContext* rpc, absl::Duration max_memory_wait,
                absl::Duration stall_timeout)
      : StreamCall(DeadlineOf(*rpc), max_memory_wait), stall_timeout_(stall_timeout), rpc_(rpc) {}

  void SetReactor(Reactor* reactor) {
    const std::lock_guard lock(mutex_);
    reactor_ = reactor;
  }

  void SetProducer(std::shared_ptr<StreamProducer> producer) override {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kDone) producer_ = std::move(producer);
  }

  void Write(Frame message) override {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kIdle) return;  // the client went away meanwhile
    buffer_ = ToByteBuffer(message);
    BeginOperation(Phase::kWriting);
    reactor_->StartWrite(&buffer_);
  }

  void WriteLast(Frame message) override {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kIdle) return;
    buffer_ = ToByteBuffer(message);
    BeginOperation(Phase::kFinishing);
    reactor_->StartWriteAndFinish(&buffer_, grpc::WriteOptions(), grpc::Status());
  }

  void Finish(absl::Status status) override {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kIdle) {
      FinishNow(status);
    } else if (phase_ == Phase::kWriting && !pending_status_) {
      pending_status_ = std::move(status);
    }
  }

  void OnWriteDone(bool ok) {
    std::shared_ptr<StreamProducer> producer;
    {
      const std::lock_guard lock(mutex_);
      buffer_.Clear();
      if (pending_status_ || !ok) {
        FinishNow(pending_status_.value_or(CancelledStatus()));
        return;
      }
      phase_ = Phase::kIdle;
      producer = producer_;
    }
    if (producer == nullptr) return;
    CatchExceptions([&] { producer->OnWritten(); },
                    [&](absl::Status failure) { Finish(std::move(failure)); });
  }

  void OnCancel() {
    CancelWork();
    absl::Status status;
    {
      const std::lock_guard lock(mutex_);
      status = CancelledStatus();
    }
    Finish(std::move(status));
  }

  void OnDone() {
    std::shared_ptr<StreamProducer> producer;
    std::unique_ptr<grpc::Alarm> alarm;
    {
      const std::lock_guard lock(mutex_);
      phase_ = Phase::kDone;
      buffer_.Clear();
      producer = std::move(producer_);
      alarm = std::move(alarm_);
    }
    CancelWork();
  }

 private:
  enum class Phase { kIdle, kWriting, kFinishing, kDone };

  // Below: mutex_ is held.

  void BeginOperation(Phase phase) {
    phase_ = phase;
    operation_start_ = absl::Now();
    // One alarm serves the whole stream: it looks at the clock when it fires and is set again for the
    // rest, so that a write costs no timer.
    if (alarm_ == nullptr) SetAlarm(operation_start_ + stall_timeout_);
  }

  void FinishNow(const absl::Status& status) {
    BeginOperation(Phase::kFinishing);
    reactor_->Finish(ToGrpcStatus(status));
  }

  absl::Status CancelledStatus() const {
    if (!stalled_) return EndStatus();
    return absl::DeadlineExceededError(
        absl::StrCat("the reader took nothing for ", absl::FormatDuration(stall_timeout_)));
  }

  void SetAlarm(absl::Time deadline) {
    if (deadline == absl::InfiniteFuture()) return;
    const auto ignore = [](const absl::Status&) {};  // a stream without its alarm beats no stream
    CatchExceptions(
        [&] {
          alarm_ = std::make_unique<grpc::Alarm>();
          alarm_->Set(absl::ToChronoTime(deadline), [self = shared_from_this()](bool expired) {
            if (expired) self->OnAlarm();
          });
        },
        ignore);
  }

  // Takes mutex_ itself.
  void OnAlarm() {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kDone) return;
    const absl::Time now = absl::Now();
    const absl::Time start = phase_ == Phase::kIdle ? now : operation_start_;
    if (now < start + stall_timeout_) {
      SetAlarm(start + stall_timeout_);
      return;
    }
    stalled_ = true;
    rpc_->TryCancel();
  }

  const absl::Duration stall_timeout_;
  std::mutex mutex_;
  // Guarded by mutex_:
  grpc::CallbackServerContext* const rpc_;  // alive until done
  Reactor* reactor_ = nullptr;              // alive until done
  Phase phase_ = Phase::kIdle;
  std::optional<absl::Status> pending_status_;
  bool stalled_ = false;
  grpc::ByteBuffer buffer_;  // the message in flight
  absl::Time operation_start_;
  std::unique_ptr<grpc::Alarm> alarm_;
  std::shared_ptr<StreamProducer> producer_;
};

class StreamReactor final : public Reactor {
 public:
  explicit StreamReactor(std::shared_ptr<ReactedStream> call) : call_(std::move(call)) {}

  void OnWriteDone(bool ok) override { call_->OnWriteDone(ok); }
  void OnCancel() override { call_->OnCancel(); }
  void OnDone() override {
    call_->OnDone();
    delete this;
  }

 private:
  const std::shared_ptr<ReactedStream> call_;
};

}  // namespace

StartedStream StartStream(grpc::CallbackServerContext* rpc, absl::Duration max_memory_wait,
                          absl::Duration stall_timeout) {
  auto call = std::make_shared<ReactedStream>(rpc, max_memory_wait, stall_timeout);
  auto* reactor = new StreamReactor(call);
  call->SetReactor(reactor);
  return {reactor, std::move(call)};
}

}  // namespace posenc

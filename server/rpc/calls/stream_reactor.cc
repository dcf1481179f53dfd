#include "server/rpc/calls/stream_reactor.h"

#include <mutex>
#include <optional>
#include <utility>

#include "server/rpc/calls/call_peer.h"
#include "server/rpc/calls/exceptions.h"
#include "server/rpc/calls/status_mapping.h"
#include "server/rpc/calls/unary_reactor.h"
#include "server/rpc/calls/wire.h"

namespace posenc {
namespace {

using Reactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;

class ReactedStream final : public StreamCall {
 public:
  ReactedStream(grpc::CallbackServerContext* rpc, absl::Duration max_memory_wait,
                std::shared_ptr<StallWatch> stalls)
      : StreamCall(DeadlineOf(*rpc), max_memory_wait), guard_(std::move(stalls), rpc), peer_(*rpc) {}

  PeerId peer() override {
    const std::lock_guard lock(mutex_);
    return peer_.Get();
  }

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
    BeginWrite(Phase::kWriting, message);
    reactor_->StartWrite(&buffer_);
  }

  void WriteLast(Frame message) override {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kIdle) return;
    BeginWrite(Phase::kFinishing, message);
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
      guard_.End();
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
    {
      const std::lock_guard lock(mutex_);
      guard_.End();
      peer_.RpcEnds();
      phase_ = Phase::kDone;
      buffer_.Clear();
      producer = std::move(producer_);
    }
    CancelWork();
  }

 private:
  enum class Phase { kIdle, kWriting, kFinishing, kDone };

  // Below: mutex_ is held.

  void BeginWrite(Phase phase, const Frame& frame) {
    OutgoingMessage message = ToMessage(frame);
    buffer_.Swap(&message.buffer);
    phase_ = phase;
    guard_.Begin(message.data_bytes);
  }

  void FinishNow(const absl::Status& status) {
    phase_ = Phase::kFinishing;
    guard_.Begin();
    reactor_->Finish(ToGrpcStatus(status));
  }

  absl::Status CancelledStatus() const {
    if (!guard_.stalled()) return EndStatus();
    return absl::DeadlineExceededError("the reader took nothing for too long");
  }

  StallGuard guard_;
  std::mutex mutex_;
  // Guarded by mutex_:
  CallPeer peer_;
  Reactor* reactor_ = nullptr;  // alive until done
  Phase phase_ = Phase::kIdle;
  std::optional<absl::Status> pending_status_;
  grpc::ByteBuffer buffer_;  // the message in flight
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
                          std::shared_ptr<StallWatch> stalls) {
  auto call = std::make_shared<ReactedStream>(rpc, max_memory_wait, std::move(stalls));
  auto* reactor = new StreamReactor(call);
  call->SetReactor(reactor);
  return {reactor, std::move(call)};
}

}  // namespace posenc

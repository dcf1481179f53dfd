#include "server/rpc/calls/unary_reactor.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "server/rpc/calls/call_peer.h"
#include "server/rpc/calls/exceptions.h"
#include "server/rpc/calls/status_mapping.h"
#include "server/rpc/calls/wire.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

class ReactedCall final : public ServedUnary, public std::enable_shared_from_this<ReactedCall> {
 public:
  ReactedCall(grpc::CallbackServerContext* rpc, absl::Duration max_memory_wait,
              std::shared_ptr<StallWatch> stalls, grpc::ByteBuffer* answer)
      : ServedUnary(DeadlineOf(*rpc), max_memory_wait), guard_(std::move(stalls), rpc), peer_(*rpc), answer_(answer) {}

  PeerId peer() override {
    const std::lock_guard lock(mutex_);
    return peer_.Get();
  }

  void Respond(absl::StatusOr<Frame> answer) override {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kWorking) return;
    absl::Status status = answer.status();
    OutgoingMessage message;
    CatchExceptions(
        [&] {
          if (status.ok()) message = ToMessage(*answer);
        },
        [&](absl::Status failure) { status = std::move(failure); });
    answer_->Swap(&message.buffer);
    guard_.Begin(message.data_bytes);
    phase_ = Phase::kAnswered;
    status_ = ToGrpcStatus(status);
    if (reactor_ != nullptr) reactor_->Finish(std::move(status_));
  }

  grpc::ServerUnaryReactor* TakeReactor() override;

  void OnCancel() {
    CancelWork();
    Respond(EndStatus());
  }

  void OnDone() {
    guard_.End();
    CancelWork();
    // Waits for a Respond that is still inside Finish on another thread.
    const std::lock_guard lock(mutex_);
    peer_.RpcEnds();
  }

 private:
  enum class Phase { kWorking, kAnswered };

  StallGuard guard_;
  std::mutex mutex_;
  // Guarded by mutex_:
  CallPeer peer_;
  grpc::ByteBuffer* const answer_;  // used before Finish only
  Phase phase_ = Phase::kWorking;
  grpc::Status status_;                          // of the answer, until the reactor has it
  grpc::ServerUnaryReactor* reactor_ = nullptr;  // of a call that was not answered at once
};

// Answers later, from whatever thread.
class WaitingReactor final : public grpc::ServerUnaryReactor {
 public:
  explicit WaitingReactor(std::shared_ptr<ReactedCall> call) : call_(std::move(call)) {}

  void OnCancel() override { call_->OnCancel(); }
  void OnDone() override {
    call_->OnDone();
    delete this;
  }

 private:
  const std::shared_ptr<ReactedCall> call_;
};

// Has the answer when gRPC gets to see it, so that nothing is left to do but to let go.
class AnsweredReactor final : public grpc::ServerUnaryReactor {
 public:
  explicit AnsweredReactor(std::shared_ptr<ReactedCall> call) : call_(std::move(call)) {}

  void OnCancel() override {}
  void OnDone() override {
    call_->OnDone();
    delete this;
  }
  // gRPC's own default reactor does the same: OnDone on the thread that is there, instead of waking up one
  // of the executor's, which costs a small call a sixth of the server's time.
  bool InternalInlineable() override { return true; }

 private:
  const std::shared_ptr<ReactedCall> call_;
};

grpc::ServerUnaryReactor* ReactedCall::TakeReactor() {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::kWorking) return reactor_ = new WaitingReactor(shared_from_this());
  // gRPC does not know the reactor yet, and keeps the status until it does: no reaction can come here.
  auto* const answered = new AnsweredReactor(shared_from_this());
  answered->Finish(std::move(status_));
  return answered;
}

}  // namespace

absl::Time DeadlineOf(const grpc::CallbackServerContext& rpc) {
  const std::chrono::system_clock::time_point deadline = rpc.deadline();
  // gRPC counts nanoseconds: a deadline some 236 years ahead comes out before 1970.
  const bool is_far = deadline == std::chrono::system_clock::time_point::max() ||
                      deadline < std::chrono::system_clock::time_point();
  return is_far ? absl::InfiniteFuture() : ToSteady(absl::FromChrono(deadline));
}

std::shared_ptr<ServedUnary> StartUnary(grpc::CallbackServerContext* rpc, grpc::ByteBuffer* answer,
                                        absl::Duration max_memory_wait, std::shared_ptr<StallWatch> stalls) {
  return std::make_shared<ReactedCall>(rpc, max_memory_wait, std::move(stalls), answer);
}

}  // namespace posenc

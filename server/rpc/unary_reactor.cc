#include "server/rpc/unary_reactor.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "server/rpc/exceptions.h"
#include "server/rpc/status_mapping.h"
#include "server/rpc/wire.h"

namespace posenc {
namespace {

class ReactedCall final : public UnaryCall {
 public:
  ReactedCall(grpc::CallbackServerContext* rpc, absl::Duration max_memory_wait,
              std::shared_ptr<StallWatch> stalls, grpc::ByteBuffer* answer)
      : UnaryCall(DeadlineOf(*rpc), max_memory_wait), guard_(std::move(stalls), rpc), answer_(answer) {}

  void SetReactor(grpc::ServerUnaryReactor* reactor) {
    const std::lock_guard lock(mutex_);
    reactor_ = reactor;
  }

  void Respond(absl::StatusOr<Frame> answer) override {
    const std::lock_guard lock(mutex_);
    if (reactor_ == nullptr) return;
    absl::Status status = answer.status();
    CatchExceptions(
        [&] {
          if (status.ok()) *answer_ = ToByteBuffer(*answer);
        },
        [&](absl::Status failure) { status = std::move(failure); });
    guard_.Begin();
    std::exchange(reactor_, nullptr)->Finish(ToGrpcStatus(status));
  }

  void OnCancel() {
    CancelWork();
    Respond(EndStatus());
  }

  void OnDone() {
    guard_.End();
    CancelWork();
    // Waits for a Respond that is still inside Finish on another thread.
    const std::lock_guard lock(mutex_);
  }

 private:
  StallGuard guard_;
  std::mutex mutex_;
  grpc::ByteBuffer* const answer_;                // used before Finish only, guarded by mutex_
  grpc::ServerUnaryReactor* reactor_ = nullptr;  // null once finished; guarded by mutex_
};

class UnaryReactor final : public grpc::ServerUnaryReactor {
 public:
  explicit UnaryReactor(std::shared_ptr<ReactedCall> call) : call_(std::move(call)) {}

  void OnCancel() override { call_->OnCancel(); }
  void OnDone() override {
    call_->OnDone();
    delete this;
  }

 private:
  const std::shared_ptr<ReactedCall> call_;
};

}  // namespace

absl::Time DeadlineOf(const grpc::CallbackServerContext& rpc) {
  const std::chrono::system_clock::time_point deadline = rpc.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return absl::InfiniteFuture();
  return absl::FromChrono(deadline);
}

StartedUnary StartUnary(grpc::CallbackServerContext* rpc, grpc::ByteBuffer* answer,
                        absl::Duration max_memory_wait, std::shared_ptr<StallWatch> stalls) {
  auto call = std::make_shared<ReactedCall>(rpc, max_memory_wait, std::move(stalls), answer);
  auto* reactor = new UnaryReactor(call);
  call->SetReactor(reactor);
  return {reactor, std::move(call)};
}

}  // namespace posenc

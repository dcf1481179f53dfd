#include "server/app/listeners/health_service.h"

#include <optional>
#include <utility>

namespace posenc {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// One Watch stream. Its fields are guarded by the service's mutex; gRPC is called without it, and the
// flags `writing` and `finished` keep the stream alive meanwhile: it can only be deleted after Finish,
// which is called once and never while a write is under way.
class HealthService::Watcher : public grpc::ServerWriteReactor<HealthCheckResponse> {
 public:
  Watcher(HealthService& service, std::string name) : service_(service), name_(std::move(name)) {}

  // Decides under the mutex what is to be done next, so that Act may do it without.
  enum class Step { kNothing, kWrite, kFinish };
  Step NextStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(service_.mutex_) {
    if (writing_ || finished_) return Step::kNothing;
    const ServingStatus wanted = service_.StatusOf(name_);
    if (!cancelled_ && sent_ != wanted) {
      sent_ = wanted;
      response_.set_status(wanted);
      writing_ = true;
      return Step::kWrite;
    }
    if (!cancelled_ && !service_.draining_) return Step::kNothing;
    finished_ = true;
    return Step::kFinish;
  }

  void Act(Step step) {
    if (step == Step::kWrite) StartWrite(&response_);
    if (step == Step::kFinish) Finish(grpc::Status::OK);
  }

  void Advance() {
    Step step;
    {
      absl::MutexLock lock(&service_.mutex_);
      step = NextStep();
    }
    Act(step);
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&service_.mutex_);
      writing_ = false;
      if (!ok) cancelled_ = true;
    }
    Advance();
  }

  void OnCancel() override {
    {
      absl::MutexLock lock(&service_.mutex_);
      cancelled_ = true;
    }
    Advance();
  }

  void OnDone() override {
    {
      absl::MutexLock lock(&service_.mutex_);
      service_.watchers_.erase(this);
    }
    delete this;
  }

 private:
  HealthService& service_;
  const std::string name_;
  HealthCheckResponse response_;
  std::optional<ServingStatus> sent_ ABSL_GUARDED_BY(service_.mutex_);
  bool writing_ ABSL_GUARDED_BY(service_.mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(service_.mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(service_.mutex_) = false;
};

HealthService::HealthService(const std::vector<std::string>& services)
    : readiness_(services.begin(), services.end()) {
  readiness_.insert("");
}

HealthService::~HealthService() = default;

HealthService::ServingStatus HealthService::StatusOf(const std::string& name) const {
  if (name == "liveness") {
    return HealthCheckResponse::SERVING;
  }
  if (!readiness_.contains(name)) return HealthCheckResponse::SERVICE_UNKNOWN;
  return serving_ && !draining_ ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

void HealthService::SetServing(bool serving) {
  {
    absl::MutexLock lock(&mutex_);
    serving_ = serving;
  }
  AdvanceAll();
}

void HealthService::Drain() {
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
  }
  AdvanceAll();
}

void HealthService::AdvanceAll() {
  std::vector<std::pair<Watcher*, Watcher::Step>> steps;
  {
    absl::MutexLock lock(&mutex_);
    for (Watcher* watcher : watchers_) steps.emplace_back(watcher, watcher->NextStep());
  }
  for (const auto& [watcher, step] : steps) {
    // A watcher that has nothing to do may be gone by now.
    if (step != Watcher::Step::kNothing) watcher->Act(step);
  }
}

int HealthService::watchers() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int>(watchers_.size());
}

grpc::ServerUnaryReactor* HealthService::Check(grpc::CallbackServerContext* context,
                                               const HealthCheckRequest* request,
                                               HealthCheckResponse* response) {
  ServingStatus status;
  {
    absl::MutexLock lock(&mutex_);
    status = StatusOf(request->service());
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (status == HealthCheckResponse::SERVICE_UNKNOWN) {
    reactor->Finish({grpc::StatusCode::NOT_FOUND, "unknown service name"});
    return reactor;
  }
  response->set_status(status);
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<HealthCheckResponse>* HealthService::Watch(grpc::CallbackServerContext*,
                                                                    const HealthCheckRequest* request) {
  auto* watcher = new Watcher(*this, request->service());
  Watcher::Step step;
  {
    absl::MutexLock lock(&mutex_);
    watchers_.insert(watcher);
    step = watcher->NextStep();
  }
  watcher->Act(step);
  return watcher;
}

}  // namespace posenc

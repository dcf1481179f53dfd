// grpc.health.v1.Health as clients and Kubernetes expect it. gRPC's own one says SERVING before we can say
// otherwise, and never ends its watchers, so that one open Watch holds a shutdown up for its whole deadline.
//
// Names:     "" and the services given at construction have one state, readiness; "liveness" is SERVING
//            as long as the program answers. Other names: Check is NOT_FOUND, Watch says SERVICE_UNKNOWN.
// Life:      NOT_SERVING, then SetServing(true); at Drain every watcher is told NOT_SERVING and its stream
//            ends with OK, and so do later ones.
// Threads:   any method, any thread, any time. Ownership: must outlive the grpc::Server.

#ifndef POSENC_SERVER_APP_LISTENERS_HEALTH_SERVICE_H_
#define POSENC_SERVER_APP_LISTENERS_HEALTH_SERVICE_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace posenc {

class HealthService : public grpc::health::v1::Health::CallbackService {
 public:
  explicit HealthService(const std::vector<std::string>& services);
  ~HealthService() override;

  void SetServing(bool serving);
  void Drain();

  int watchers() const;

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const grpc::health::v1::HealthCheckRequest* request,
                                  grpc::health::v1::HealthCheckResponse* response) override;
  grpc::ServerWriteReactor<grpc::health::v1::HealthCheckResponse>* Watch(
      grpc::CallbackServerContext* context,
      const grpc::health::v1::HealthCheckRequest* request) override;

 private:
  using ServingStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;
  class Watcher;

  // What a name is: one of readiness_, "liveness" or neither.
  ServingStatus StatusOf(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets every watcher say what has changed.
  void AdvanceAll();

  absl::flat_hash_set<std::string> readiness_;
  mutable absl::Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<Watcher*> watchers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_HEALTH_SERVICE_H_

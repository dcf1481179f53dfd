// Sends gRPC's and Protobuf's own messages to our log: gRPC's errors as warnings (20 in ten
// seconds and the number of the rest, as any peer can cause them), the rest as debug lines.
// While a GrpcErrors object lives, errors are kept in it instead: gRPC tells why an address cannot be bound
// only there.
//
// Threads: any. The log must live until RouteLibraryLogs(nullptr).

#ifndef POSENC_SERVER_APP_LISTENERS_GRPC_LOG_H_
#define POSENC_SERVER_APP_LISTENERS_GRPC_LOG_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/telemetry/log.h"

namespace posenc {

// Null drops the messages.
void RouteLibraryLogs(Logger* log);

// One at a time.
class GrpcErrors {
 public:
  GrpcErrors();
  ~GrpcErrors();
  GrpcErrors(const GrpcErrors&) = delete;
  GrpcErrors& operator=(const GrpcErrors&) = delete;

  void Add(const char* text);
  // All messages so far, one after the other.
  std::string text() const;

 private:
  mutable absl::Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_GRPC_LOG_H_

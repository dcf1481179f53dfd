// What every RPC server is expected to count, under the names that public dashboards know
// (grpc_server_*), and the traffic of our own services (posenc_requests_in_flight, posenc_response_*).
//
// Counted in one place, a server interceptor, which sees raw and typed methods alike. All label sets are
// made at construction from a closed list of methods, at 0, so that rates exist before the first call and
// no peer can add a series: calls of methods that are not in the list are not counted at all.
//
// Cost:      a look-up by path and some atomic additions for a call; nothing for each byte.
// Units:     seconds until the status is handed to gRPC; bytes of serialised messages.
// Threads:   any. Ownership: the registry must outlive the metrics, the metrics the server.

#ifndef POSENC_SERVER_TELEMETRY_RPC_METRICS_H_
#define POSENC_SERVER_TELEMETRY_RPC_METRICS_H_

#include <grpcpp/support/server_interceptor.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace posenc {

enum class RpcType : uint8_t { kUnary, kClientStream, kServerStream, kBidiStream };

struct RpcMethod {
  std::string service;  // "posenc.v1.PositionalEncodingService"
  std::string method;   // "GetSlice"
  RpcType type = RpcType::kUnary;
  // Whether the posenc_* families count it too, by the method's name alone.
  bool serves_tables = false;
};

// How an answer travelled.
enum class Transport : uint8_t { kTcp = 0, kUnixSocket = 1 };

// The metrics of one method; every pointer is to a metric in the registry.
struct MethodMetrics {
  prometheus::Counter* started = nullptr;
  std::array<prometheus::Counter*, 17> handled{};  // by grpc::StatusCode
  prometheus::Counter* received = nullptr;
  prometheus::Counter* sent = nullptr;
  prometheus::Histogram* seconds = nullptr;
  // Null unless serves_tables.
  prometheus::Gauge* in_flight = nullptr;
  std::array<prometheus::Counter*, 2> response_bytes{};  // by Transport
  prometheus::Histogram* response_size = nullptr;
};

class RpcMetrics {
 public:
  RpcMetrics(prometheus::Registry& registry, const std::vector<RpcMethod>& methods);

  // Returns the metrics of "/service/method", or null for a path that is not in the list.
  const MethodMetrics* Find(absl::string_view path) const;

  // Calls of serves_tables methods that have begun and not ended.
  int64_t in_flight() const;

  // Makes the factory that a grpc::ServerBuilder takes.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeInterceptorFactory() const;

 private:
  absl::flat_hash_map<std::string, MethodMetrics> methods_;
};

// Returns a status code as Go spells it: "OK", "InvalidArgument", "Canceled".
absl::string_view GoCodeName(grpc::StatusCode code);

}  // namespace posenc

#endif  // POSENC_SERVER_TELEMETRY_RPC_METRICS_H_

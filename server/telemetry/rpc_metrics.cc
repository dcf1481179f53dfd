#include "server/telemetry/rpc_metrics.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;
using prometheus::Histogram;
using prometheus::Labels;

// From the answer out of a warm cache to a cold table of a million rows.
const Histogram::BucketBoundaries kSecondsBuckets = {50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3,
                                                     0.01,  0.025,  0.05,   0.1,    0.25, 0.5,    1,
                                                     2.5,   5,      10,     30};
// 1 KiB to 1 GiB.
const Histogram::BucketBoundaries kBytesBuckets = {1024.0,    16384.0,    262144.0,    1048576.0,   4194304.0,
                                                   16777216.0, 67108864.0, 268435456.0, 1073741824.0};

constexpr std::array<absl::string_view, 17> kGoCodeNames = {
    "OK",           "Canceled",          "Unknown",            "InvalidArgument",  "DeadlineExceeded",
    "NotFound",     "AlreadyExists",     "PermissionDenied",   "ResourceExhausted", "FailedPrecondition",
    "Aborted",      "OutOfRange",        "Unimplemented",      "Internal",         "Unavailable",
    "DataLoss",     "Unauthenticated"};

std::string TypeLabel(RpcType type) {
  switch (type) {
    case RpcType::kUnary: return "unary";
    case RpcType::kClientStream: return "client_stream";
    case RpcType::kServerStream: return "server_stream";
    case RpcType::kBidiStream: return "bidi_stream";
  }
  return "unary";
}

// The families, alive in the registry; only here is a label set ever added.
struct Families {
  explicit Families(prometheus::Registry& registry)
      : started(Counter(registry, "grpc_server_started_total", "RPCs started.")),
        handled(Counter(registry, "grpc_server_handled_total", "RPCs completed, by status code.")),
        received(Counter(registry, "grpc_server_msg_received_total", "Messages received.")),
        sent(Counter(registry, "grpc_server_msg_sent_total", "Messages sent.")),
        seconds(prometheus::BuildHistogram()
                    .Name("grpc_server_handling_seconds")
                    .Help("Time from an RPC's start to its status, in seconds.")
                    .Register(registry)),
        in_flight(prometheus::BuildGauge()
                      .Name("posenc_requests_in_flight")
                      .Help("Requests that have begun and not ended.")
                      .Register(registry)),
        response_bytes(Counter(registry, "posenc_response_bytes_total",
                               "Bytes of response messages, by method and transport.")),
        response_size(prometheus::BuildHistogram()
                          .Name("posenc_response_size_bytes")
                          .Help("Bytes of all response messages of one request.")
                          .Register(registry)) {}

  MethodMetrics Add(const RpcMethod& method) {
    const Labels labels = {{"grpc_type", TypeLabel(method.type)},
                           {"grpc_service", method.service},
                           {"grpc_method", method.method}};
    MethodMetrics metrics;
    metrics.started = &started.Add(labels);
    for (size_t code = 0; code < kGoCodeNames.size(); ++code) {
      Labels with_code = labels;
      with_code["grpc_code"] = std::string(kGoCodeNames[code]);
      metrics.handled[code] = &handled.Add(with_code);
    }
    metrics.received = &received.Add(labels);
    metrics.sent = &sent.Add(labels);
    metrics.seconds = &seconds.Add(labels, kSecondsBuckets);
    if (method.serves_tables) AddTraffic(method.method, metrics);
    return metrics;
  }

  void AddTraffic(const std::string& method, MethodMetrics& metrics) {
    metrics.in_flight = &in_flight.Add({{"method", method}});
    metrics.response_bytes = {&response_bytes.Add({{"method", method}, {"transport", "tcp"}}),
                              &response_bytes.Add({{"method", method}, {"transport", "uds"}})};
    metrics.response_size = &response_size.Add({{"method", method}}, kBytesBuckets);
  }

  static prometheus::Family<prometheus::Counter>& Counter(prometheus::Registry& registry,
                                                          const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }

  prometheus::Family<prometheus::Counter>& started;
  prometheus::Family<prometheus::Counter>& handled;
  prometheus::Family<prometheus::Counter>& received;
  prometheus::Family<prometheus::Counter>& sent;
  prometheus::Family<Histogram>& seconds;
  prometheus::Family<prometheus::Gauge>& in_flight;
  prometheus::Family<prometheus::Counter>& response_bytes;
  prometheus::Family<Histogram>& response_size;
};

// Lives as long as one call. gRPC runs its hooks one at a time.
class CallInterceptor : public grpc::experimental::Interceptor {
 public:
  CallInterceptor(const MethodMetrics& metrics, const grpc::ServerContextBase* context)
      : metrics_(metrics), context_(context), start_(std::chrono::steady_clock::now()) {
    metrics_.started->Increment();
    if (metrics_.in_flight != nullptr) metrics_.in_flight->Increment();
  }

  ~CallInterceptor() override {
    // A call that was torn down before its handler gave a status.
    if (!handled_) CountHandled(grpc::StatusCode::UNKNOWN);
    if (metrics_.in_flight != nullptr) metrics_.in_flight->Decrement();
  }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE) &&
        methods->GetRecvMessage() != nullptr) {
      metrics_.received->Increment();
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      CountSent(*methods);
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      CountHandled(methods->GetSendStatus().error_code());
    }
    methods->Proceed();
  }

 private:
  void CountSent(InterceptorBatchMethods& methods) {
    metrics_.sent->Increment();
    if (metrics_.response_size == nullptr) return;
    const grpc::ByteBuffer* message = methods.GetSerializedSendMessage();
    if (message == nullptr) return;
    const double bytes = static_cast<double>(message->Length());
    response_bytes_ += bytes;
    // The peer's name is a new string at every call: asked for once.
    if (!transport_) {
      transport_ = absl::StartsWith(context_->peer(), "unix") ? Transport::kUnixSocket : Transport::kTcp;
    }
    metrics_.response_bytes[static_cast<size_t>(*transport_)]->Increment(bytes);
  }

  void CountHandled(grpc::StatusCode code) {
    if (handled_) return;
    handled_ = true;
    const size_t index = static_cast<size_t>(code);
    const size_t known = index < kGoCodeNames.size() ? index : size_t{grpc::StatusCode::UNKNOWN};
    metrics_.handled[known]->Increment();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    metrics_.seconds->Observe(elapsed.count());
    if (metrics_.response_size != nullptr) metrics_.response_size->Observe(response_bytes_);
  }

  const MethodMetrics& metrics_;
  const grpc::ServerContextBase* const context_;
  const std::chrono::steady_clock::time_point start_;
  double response_bytes_ = 0;
  std::optional<Transport> transport_;
  bool handled_ = false;
};

class CallInterceptorFactory : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallInterceptorFactory(const RpcMetrics& metrics) : metrics_(metrics) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    const MethodMetrics* metrics = metrics_.Find(info->method());
    return metrics == nullptr ? nullptr : new CallInterceptor(*metrics, info->server_context());
  }

 private:
  const RpcMetrics& metrics_;
};

}  // namespace

RpcMetrics::RpcMetrics(prometheus::Registry& registry, const std::vector<RpcMethod>& methods) {
  Families families(registry);
  for (const RpcMethod& method : methods) {
    methods_.emplace(absl::StrCat("/", method.service, "/", method.method), families.Add(method));
  }
}

const MethodMetrics* RpcMetrics::Find(absl::string_view path) const {
  const auto found = methods_.find(path);
  return found == methods_.end() ? nullptr : &found->second;
}

int64_t RpcMetrics::in_flight() const {
  double sum = 0;
  for (const auto& [path, metrics] : methods_) {
    if (metrics.in_flight != nullptr) sum += metrics.in_flight->Value();
  }
  return static_cast<int64_t>(sum);
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
RpcMetrics::MakeInterceptorFactory() const {
  return std::make_unique<CallInterceptorFactory>(*this);
}

absl::string_view GoCodeName(grpc::StatusCode code) {
  const size_t index = static_cast<size_t>(code);
  return index < kGoCodeNames.size() ? kGoCodeNames[index] : kGoCodeNames[grpc::StatusCode::UNKNOWN];
}

}  // namespace posenc

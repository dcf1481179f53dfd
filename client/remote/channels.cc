#include "client/remote/channels.h"

#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <cstdlib>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace posenc {
namespace {

// A chunk is a block of the server's, 64 MiB at most, or one row, 16 MiB at most; twice that for framing
// and for what a later server may do.
constexpr int kMaxReceiveBytes = 128 << 20;

// No link needs more, and every one is memory of the server's.
constexpr int kMaxParallelStreams = 16;

grpc::ChannelArguments MakeArguments(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  arguments.SetUserAgentPrefix(absl::StrCat("posenc-cpp/", ClientVersion()));
  // Channels with equal arguments share one TCP connection otherwise.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // gRPC's own default lets a client find a restarted server two minutes late.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  // Finds a dead peer within 40 s; posenc-server allows a ping every 10 s.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Retries are decided in retry.h alone: saves a DNS query for each connection, and a filter that takes a
  // twelfth of the time of a small call.
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  if (IsLocalTarget(target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

grpc::ChannelArguments WithFixedWindows(grpc::ChannelArguments arguments) {
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  return arguments;
}

std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(const ConnectionOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = options.tls->root_certificates;
  ssl.pem_cert_chain = options.tls->certificate_chain;
  ssl.pem_private_key = options.tls->private_key;
  return grpc::SslCredentials(ssl);
}

// gRPC allocates what it receives piece by piece and frees it soon after. glibc gives such memory back to the
// kernel at once, and takes it again page by page, until a program has freed a large block; then it keeps
// twice as much. Does nothing in programs that have set their own thresholds (mallopt).
void KeepFreedMemory() {
  constexpr size_t kBlockBytes = 16 << 20;
  [[maybe_unused]] static const bool once = [] {
    void* volatile block = std::malloc(kBlockBytes);  // volatile: the compiler leaves out what nobody looks at
    std::free(block);
    return true;
  }();
}

}  // namespace

bool IsLocalTarget(const std::string& target) {
  absl::string_view rest = target;
  if (absl::StartsWith(rest, "unix:") || absl::StartsWith(rest, "unix-abstract:")) return true;
  for (absl::string_view scheme : {"dns:", "ipv4:", "ipv6:"}) absl::ConsumePrefix(&rest, scheme);
  absl::ConsumePrefix(&rest, "///");
  for (absl::string_view host : {"localhost:", "127.", "[::1]", "%5B::1%5D"}) {
    if (absl::StartsWith(rest, host)) return true;
  }
  return rest == "localhost";
}

std::vector<std::shared_ptr<grpc::Channel>> Channels::All() const {
  std::vector<std::shared_ptr<grpc::Channel>> all = bulk;
  all.insert(all.begin(), {small, streams});
  return all;
}

Channels MakeChannels(const std::string& target, const ConnectionOptions& options) {
  KeepFreedMemory();
  const std::shared_ptr<grpc::ChannelCredentials> credentials = MakeCredentials(options);
  const grpc::ChannelArguments arguments = MakeArguments(target);
  const auto make = [&](const grpc::ChannelArguments& with) {
    return grpc::CreateCustomChannel(target, credentials, with);
  };
  Channels channels{.small = make(arguments), .streams = nullptr, .bulk = {}};
  for (int i = 0; i < std::clamp(options.parallel_streams, 1, kMaxParallelStreams); ++i) {
    channels.bulk.push_back(make(arguments));
  }
  channels.streams = IsLocalTarget(target) ? make(WithFixedWindows(arguments)) : channels.bulk.front();
  return channels;
}

std::shared_ptr<grpc::Channel> MakeFreshChannel(const std::string& target, const ConnectionOptions& options) {
  return grpc::CreateCustomChannel(target, MakeCredentials(options), MakeArguments(target));
}

}  // namespace posenc

// The question whether a service can be reached (again).

#include <grpcpp/channel.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/remote/remote_connection.h"

namespace posenc {
namespace {

constexpr absl::Duration kShortestTimeout = absl::Milliseconds(1);

// Connects, or waits for a connection that is under way; false once that has failed. gRPC makes no headway with
// one unless somebody waits for it: calls that fail at once never bring a channel back.
bool AwaitConnected(grpc::Channel& channel, absl::Time deadline) {
  bool tried = false;
  for (grpc_connectivity_state state = channel.GetState(true); state != GRPC_CHANNEL_READY;
       state = channel.GetState(true)) {
    // At first it may be an older attempt's.
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE && tried) return false;
    tried = tried || state != GRPC_CHANNEL_TRANSIENT_FAILURE;
    if (!channel.WaitForStateChange(state, absl::ToChronoTime(deadline))) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<HealthStatus> RemoteConnection::Probe(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + std::max(timeout, kShortestTimeout);
  const std::vector<std::shared_ptr<grpc::Channel>> channels = channels_.All();
  for (const std::shared_ptr<grpc::Channel>& channel : channels) {
    // All at once, and without the pause that grew while nobody was there.
    grpc::experimental::ChannelResetConnectionBackoff(channel.get());
    channel->GetState(true);
  }
  for (const std::shared_ptr<grpc::Channel>& channel : channels) {
    if (AwaitConnected(*channel, deadline)) continue;
    return absl::UnavailableError(
        absl::StrCat(target_, ": no connection within ", absl::FormatDuration(timeout)));
  }
  return Health({.timeout = std::max(deadline - absl::Now(), kShortestTimeout)});
}

}  // namespace posenc

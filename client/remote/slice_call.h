// One attempt of a call that streams numbers, on the level of messages.
//
// Nothing here copies numbers: a message is handed over as gRPC received it. A stream is received by gRPC's
// threads while the caller's thread copies and checks the message before: two messages at most are waiting.
// What runs none of the caller's functions is copied and checked by gRPC's threads, which saves a change of
// threads for each message, an eighth of the time.
//
// Threads: CallStream blocks; any thread. `consume` runs on one thread at a time and may throw.

#ifndef POSENC_CLIENT_REMOTE_SLICE_CALL_H_
#define POSENC_CLIENT_REMOTE_SLICE_CALL_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace posenc {

// Returns the absl::Status of a call's end, with its field violations.
absl::Status FromGrpc(const grpc::Status& status);

// Which threads hand messages over: the calling one all of them, or only the first ones, gRPC's the rest.
enum class ConsumeOn : bool { kCaller, kReceiver };

// How long a stream may bring nothing, and whether it did.
struct StandStill {
  absl::Duration limit = absl::InfiniteDuration();
  bool from_start = true;  // off: time counts from when a server has taken the call, however late
  bool happened = false;   // written by CallStream; it returns Unavailable then
};

// Calls a server-streaming method and hands every message to `consume`, in order, until the stream ends or
// `consume` returns an error, which ends the stream and is returned. On gRPC's threads it must not wait.
absl::Status CallStream(const std::shared_ptr<grpc::Channel>& channel, const char* method,
                        const google::protobuf::MessageLite& request, grpc::ClientContext& context,
                        ConsumeOn where, StandStill& still,
                        const std::function<absl::Status(grpc::ByteBuffer& message)>& consume);

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_SLICE_CALL_H_

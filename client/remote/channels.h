// The gRPC channels of one connection, with every setting that matters.
//
// Small calls and bulk transfers have channels with TCP connections of their own: beside a table under way
// on the same connection a row of 1 KB takes 28 ms instead of half a millisecond. A channel that is not used
// does not connect.
//
// Windows: gRPC probes how much is under way and lets its windows grow to twice as much. On this host that
//          is the length of a queue, 64 MiB and more, and small calls wait behind it: their 99th percentile
//          beside four streams doubles. Streams that the caller takes chunk by chunk do without there, at a
//          seventh (four streams) to a quarter (one) less of a rate; reads into memory keep theirs.

#ifndef POSENC_CLIENT_REMOTE_CHANNELS_H_
#define POSENC_CLIENT_REMOTE_CHANNELS_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <string>
#include <vector>

#include "posenc/connect.h"

namespace posenc {

struct Channels {
  std::shared_ptr<grpc::Channel> small;
  std::shared_ptr<grpc::Channel> streams;            // for the caller's functions
  std::vector<std::shared_ptr<grpc::Channel>> bulk;  // for reads into memory: the first, or all for one in parts

  std::vector<std::shared_ptr<grpc::Channel>> All() const;
};

Channels MakeChannels(const std::string& target, const ConnectionOptions& options);

// Returns a channel for one bulk transfer, with a TCP connection of its own, which may lead to another server of
// the target than those before.
std::shared_ptr<grpc::Channel> MakeFreshChannel(const std::string& target, const ConnectionOptions& options);

// Whether a target is this host, where no proxy of the environment is to be used: "localhost", 127.0.0.0/8,
// [::1] and Unix sockets, with or without a scheme.
bool IsLocalTarget(const std::string& target);

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_CHANNELS_H_

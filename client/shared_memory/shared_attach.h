// Tables of a server on this host, mapped instead of received.
//
// The server's socket hands out sealed memory against a token (OpenSharedTable). Nothing of it is trusted
// before it has been looked at: the memory must be sealed against writing and shrinking and as large as the
// tensors say, so that no other process can change it or make a read of it fault. The socket's path is not
// trusted either: nothing but 64 hex digits is ever sent there.
//
// Threads: pure functions. Ownership: the table keeps the mapping and the connection that is its lease.

#ifndef POSENC_CLIENT_SHARED_MEMORY_SHARED_ATTACH_H_
#define POSENC_CLIENT_SHARED_MEMORY_SHARED_ATTACH_H_

#include <string>

#include "absl/status/statusor.h"
#include "posenc/table.h"
#include "posenc/v1/positional_encoding_service.pb.h"

namespace posenc {

// Whether somebody listens at the path of a server's socket, so that the server may be on this host.
bool SharedMemorySocketAnswers(const std::string& path);

// Fetches and maps the memory that `offer` stands for.
// Errors: Unavailable when the socket cannot be reached or does not know the token (the server is on another
// host), Internal for memory that is not what the offer says. All mean: stream the table instead.
absl::StatusOr<Table> AttachSharedTable(const v1::OpenSharedTableResponse& offer);

}  // namespace posenc

#endif  // POSENC_CLIENT_SHARED_MEMORY_SHARED_ATTACH_H_

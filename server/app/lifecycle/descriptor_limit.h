// How many file descriptors the program may have open, and who may use how many of them, so that peers who
// open connections can never take those that our own files need.
//
// Threads: any; RaiseDescriptorLimit once, at the start.

#ifndef POSENC_SERVER_APP_LIFECYCLE_DESCRIPTOR_LIMIT_H_
#define POSENC_SERVER_APP_LIFECYCLE_DESCRIPTOR_LIMIT_H_

#include <cstddef>

namespace posenc {

// Raises the soft limit (RLIMIT_NOFILE) to the hard one, but not over a million, and returns the limit that
// holds then. A limit that cannot be raised stays as it is.
size_t RaiseDescriptorLimit();

// Most connections of each kind. Together with the sealed memory that each lease on a shared table holds they
// take at most seven eighths of the limit; the rest is for files, listeners and gRPC itself.
struct DescriptorShares {
  size_t grpc = 0;
  size_t shared_memory = 0;
  size_t admin = 0;
};
DescriptorShares ShareDescriptors(size_t limit, bool with_shared_memory);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LIFECYCLE_DESCRIPTOR_LIMIT_H_

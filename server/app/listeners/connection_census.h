// Who holds how many connections, of those that were handed to somebody who closes them silently.
//
// A descriptor's number is free for another file once its connection is closed. So an entry holds as long
// as its number still stands for the same socket, which Recount asks the kernel. Not thread-safe.

#ifndef POSENC_SERVER_APP_LISTENERS_CONNECTION_CENSUS_H_
#define POSENC_SERVER_APP_LISTENERS_CONNECTION_CENSUS_H_

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace posenc {

class ConnectionCensus {
 public:
  void Add(int connection, const std::string& peer);

  // Upper bounds; true right after Recount.
  size_t total() const { return entries_.size(); }
  size_t HeldBy(const std::string& peer) const;

  // Forgets the connections that are closed. One system call for each that is known.
  void Recount();

 private:
  struct Entry {
    ino_t inode = 0;  // sockets have unique ones, while they live
    std::string peer;
  };

  void Forget(const Entry& entry);

  absl::flat_hash_map<int, Entry> entries_;
  absl::flat_hash_map<std::string, size_t> by_peer_;
};

// The address of the other end without its port, "unix:UID" for a Unix socket; empty when it has gone.
std::string PeerOf(int connection);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_CONNECTION_CENSUS_H_

// Makes connections: to a service, or to this very process.

#ifndef POSENC_CONNECT_H_
#define POSENC_CONNECT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "posenc/connection.h"

namespace posenc {

class TensorCatalog;  // server/core/tensor_catalog.h

inline namespace client_v1 {

// PEM texts. The server's certificate is checked against `root_certificates`, by default the system's;
// the other two are for servers that ask for a certificate (mTLS).
struct TlsOptions {
  std::string root_certificates = {};
  std::string certificate_chain = {};
  std::string private_key = {};
};

// Retried are UNAVAILABLE, CANCELLED that the caller did not ask for, and streams that break, stand still or
// fail their checksum; all calls are idempotent. The
// delay before retry n is a random part of initial_delay · 2^(n-1), at most max_delay. A stream that made
// progress begins to count anew. Each retry takes one of the connection's budget tokens and each success
// gives a tenth of one back, so that a service in trouble gets at most a tenth more traffic.
struct RetryOptions {
  int max_attempts = 6;  // the first one included; 1: no retries
  absl::Duration initial_delay = absl::Milliseconds(100);
  absl::Duration max_delay = absl::Seconds(2);
  double budget_tokens = 20.0;
};

struct ConnectionOptions {
  absl::Duration timeout = absl::Seconds(30);  // see CallOptions::timeout
  RetryOptions retry = {};
  // A retry waits, within the call's deadline, until the server can be reached. Off: it fails at once
  // when it cannot. The first attempt always fails at once.
  bool wait_for_ready = true;
  // With wait_for_ready off: waits all the same once this connection has had an answer, so that a server that
  // is restarted is waited for, and one that never was there is not.
  bool wait_for_return = false;
  // A stream that brings nothing for so long is begun again at its next row, over a TCP connection of its own,
  // which may lead elsewhere. When that brings nothing either, the call is Unavailable. More than a chunk (a
  // block of the server's, 2 MiB by default) takes on the network; InfiniteDuration: only the deadline ends it.
  absl::Duration stall_timeout = absl::Seconds(30);
  std::optional<TlsOptions> tls = {};  // absent: no encryption
  std::string token = {};              // sent as "authorization: Bearer …"
  // Maps whole tables of 1 MiB and more from the server's memory when it is on this host and has a socket
  // for it (--shared-memory-socket), instead of receiving them. False: never.
  bool shared_memory = true;
  // Whole answers of 32 MiB and more are read in as many parts at once, over a TCP connection each: one
  // connection seldom fills a link that many share. Each part resumes by itself. 1: never.
  int parallel_streams = 2;
  // Refuses answers over this size before memory is taken.
  uint64_t max_table_bytes = uint64_t{64} << 30;
};

// Returns a connection to a service: "localhost:50051", "dns:///posenc:50051", "unix:/run/posenc.sock".
// Connecting begins with the first call and is repeated in the background at most every two seconds.
//
// Small calls and bulk transfers have TCP connections of their own, so that a row does not wait behind a
// table.
// A proxy from the environment (http_proxy) is not used for loopback and Unix targets. Keep one connection
// for the life of the process: making one costs a handshake.
std::shared_ptr<Connection> MakeConnection(const std::string& target,
                                           const ConnectionOptions& options = {});

// Returns a connection that computes in this process, with the code of the service: the same bytes, the
// same errors, and no server. What only a server has (Warm, ListTables, Evict) is Unimplemented.
// `catalog` holds the stored tensors that learned tables and bucket biases name (OpenStoredTensor in
// server/models/tensors/stored_tensors.h reads them from files); null: none.
std::shared_ptr<Connection> MakeLocalConnection(std::shared_ptr<const TensorCatalog> catalog = nullptr);

// The version of this library, e.g. "0.1.0".
std::string ClientVersion();

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_CONNECT_H_

// Tables that this process computes and the service vouches for.
//
//   posenc::Client client(posenc::MakeVerifiedLocalConnection(posenc::MakeConnection(target)));
//
// A table's bytes are a fact, so the cheapest way to receive them over a slow link is to compute them (some
// GB/s on every core) and to compare checksums: the service sends the key of the table and a CRC-32C for
// every MiB or so, 100 bytes instead of a mebibyte, and this process computes just those rows meanwhile.
//
// Mismatch: the service's bytes are the truth. Rows whose checksum differs are fetched from the service and
//   counted; a table whose key or shape differs (a service of another version) is asked for as a whole, and
//   counted: the connection inside returns it or, as MakeConnection's does, says that it is not the request's.
// Which calls: Fetch (Get, Slice, Gather) and Stream (ReadInto), with any selection. A Stream with a
//   callback delivers its rows in order, computed by the calling thread. What this process cannot compute
//   (stored tensors that are not in its catalog, specs it refuses) and everything else goes to the service.
// Errors: the service's. Rows that nobody vouches for are not returned: combine with posenc/fallback.h for
//   outages, as MakeConnectionWithFallback(MakeVerifiedLocalConnection(…)).
// Threads: any method, any thread. Answers of 8 MiB and more are computed by several threads, which live as
//   long as the call.

#ifndef POSENC_VERIFIED_H_
#define POSENC_VERIFIED_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "posenc/connect.h"
#include "posenc/connection.h"

namespace posenc {
inline namespace client_v1 {

// Where the numbers come from.
enum class TableSource : uint8_t {
  // From whichever is quicker for this table: both rates are measured, see VerifiedOptions. Whole tables
  // that can be mapped (Connection::MapsTables) are.
  kAutomatic,
  kStream,         // the service
  kVerifiedLocal,  // this process, checked against the service
};

// kAutomatic measures the link once every measure_every, with an answer of 4 MiB or more that begins as a
// stream: after 4 MiB, or 20 ms and 1 MiB, its rate is known. It is compared with the rate at which this
// process computes the first 256 KiB of the very table, times the threads; if the link is the slower one,
// the stream is left and the rest computed. Until the link has been measured the service sends.
struct VerifiedOptions {
  TableSource source = TableSource::kVerifiedLocal;
  int threads = 0;  // at most so many for one answer, the calling one included; 0: one for each core
  uint64_t min_bytes = uint64_t{64} << 10;  // smaller answers always come from the service
  absl::Duration measure_every = absl::Minutes(1);
  std::shared_ptr<const TensorCatalog> catalog = nullptr;  // as for MakeLocalConnection
  uint64_t max_table_bytes = uint64_t{64} << 30;           // as in ConnectionOptions
};

struct VerifiedStats {
  uint64_t verified_answers = 0;  // computed here, mended ones included
  uint64_t verified_bytes = 0;    // of rows whose checksum was right
  uint64_t received_answers = 0;  // taken from the service
  uint64_t mismatched_chunks = 0;
  uint64_t mismatched_rows = 0;  // fetched from the service
  uint64_t other_tables = 0;     // the service's key or shape was another one
  std::string last_mismatch = {};  // what differed; empty without one
  double link_bytes_per_second = 0.0;  // kAutomatic: as measured last; 0 until then
};

class VerifiedConnection : public Connection {
 public:
  virtual VerifiedStats stats() const = 0;
};

std::shared_ptr<VerifiedConnection> MakeVerifiedLocalConnection(std::shared_ptr<Connection> remote,
                                                                const VerifiedOptions& options = {});

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_VERIFIED_H_

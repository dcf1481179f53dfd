// Generates a whole table ahead of its use, block after block, with progress; and digests a whole table.
//
// Threads: callbacks run on workers of the store, one at a time for one call; they must not block.
// Ownership: the store must outlive the work; Cancel on the ticket ends it between two blocks.

#ifndef POSENC_SERVER_TABLES_JOBS_TABLE_WARMER_H_
#define POSENC_SERVER_TABLES_JOBS_TABLE_WARMER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/tables/store/table_store.h"

namespace posenc {

struct WarmCallbacks {
  // After every block, first with blocks_done 0.
  std::function<void(const Table& table, int64_t blocks_done, int64_t blocks_total)> progress;
  // Once, at the end.
  std::function<void(absl::StatusOr<TablePtr>)> done;
};

// Opens the table of a normalised spec, pins it when `pin`, and fetches every block of it.
// Errors (to `done`): as TableStore::Open, Pin and Fetch; a failed or cancelled warm-up takes its own pin off.
std::shared_ptr<FetchTicket> WarmTable(TableStore& store, const PeerId& peer, const TableSpec& normalized,
                                       bool pin, absl::Time deadline, WarmCallbacks callbacks);

// The same for the server itself.
inline std::shared_ptr<FetchTicket> WarmTable(TableStore& store, const TableSpec& normalized, bool pin,
                                              absl::Time deadline, WarmCallbacks callbacks) {
  return WarmTable(store, PeerId(), normalized, pin, deadline, std::move(callbacks));
}

using Sha256Digest = std::array<uint8_t, 32>;

// Computes SHA-256 over the bytes of every tensor of a table, all rows in order, holding one block at a
// time. Errors: as TableStore::Fetch.
std::shared_ptr<FetchTicket> DigestTensors(
    TableStore& store, PeerId peer, TablePtr table, absl::Time deadline,
    std::function<void(absl::StatusOr<std::vector<Sha256Digest>>)> done);

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_JOBS_TABLE_WARMER_H_

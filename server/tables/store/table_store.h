// The tables of one server: blocks on demand, within a hard budget of bytes.
//
// Budget:    resident blocks, blocks being generated, buffers of answers, blocks that were evicted while
//            someone still held them, spare memory and generators: all counted, never exceeded. (Besides it,
//            each worker may be making one generator, whose size is known only then.) A request that does
//            not fit waits in line, holding nothing, until memory is free or its deadline has come; nothing
//            is generated before it is admitted.
// Peers:     whoever asks is named, and the line is served in turns between peers: those who hold, wait for
//            and ask for little come first (PeerAccount, AdmissionQueue).
// Eviction:  least recently fetched first, never a held or pinned block.
// Flight:    a block is generated once however many ask for it at the same time.
// Threads:   any method, any thread, any time. Callbacks run inline when nothing has to be waited for,
//            otherwise on a worker; they must not block, and may call the store again.
// Errors:    RESOURCE_EXHAUSTED when the budget cannot take the request by its deadline (or ever),
//            CANCELLED after Cancel and at shutdown. Time: SteadyNow().

#ifndef POSENC_SERVER_TABLES_STORE_TABLE_STORE_H_
#define POSENC_SERVER_TABLES_STORE_TABLE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/core/specs/spec.h"
#include "server/core/table_key.h"
#include "server/tables/memory/block.h"
#include "server/tables/memory/peer.h"
#include "server/tables/store/fetch_ticket.h"
#include "server/tables/store/store_options.h"
#include "server/tables/store/store_stats.h"
#include "server/tables/table.h"

namespace posenc {

class TableStore {
 public:
  using OpenCallback = std::function<void(absl::StatusOr<TablePtr>)>;
  using BlocksCallback = std::function<void(absl::StatusOr<std::vector<BlockPtr>>)>;
  using BufferCallback = std::function<void(absl::StatusOr<BufferPtr>)>;

  using WaitObserver = std::function<void(size_t waiting_bytes)>;

  virtual ~TableStore() = default;

  // Finds or makes the table of a normalised spec. Tables are kept while they have resident blocks or are
  // pinned, and the most recent ones besides. One that nobody waits for any more is not made.
  virtual std::shared_ptr<FetchTicket> Open(const PeerId& peer, const TableSpec& normalized,
                                            OpenCallback done) = 0;

  // Returns the table of this key if it is open already, else null. Never waits; counts as a use.
  virtual TablePtr FindOpen(const TableKey& key) = 0;

  // Returns the blocks if all of them are resident, else none. Never waits; counts as Fetch does.
  virtual std::vector<BlockPtr> FetchResident(const Table& table, int64_t first_block, int64_t last_block) = 0;

  // Fetches blocks [first_block, last_block] of a table, all or none, generating what is missing.
  // `done` is called exactly once. `deadline` bounds the wait for memory.
  virtual std::shared_ptr<FetchTicket> Fetch(const PeerId& peer, TablePtr table, int64_t first_block,
                                             int64_t last_block, absl::Time deadline, BlocksCallback done) = 0;

  // Has blocks [first_block, last_block] generated before anybody asks for them: those that are missing, in
  // order, as long as memory is plentiful. They are resident then, held by nobody, and may be evicted like
  // others. Returns at once; work that somebody waits for goes first.
  virtual void GenerateAhead(const TablePtr& table, int64_t first_block, int64_t last_block) = 0;

  // Returns a block if it is resident, else null. Never waits, counts as a use, is not a hit or miss.
  virtual BlockPtr FindResident(const Table& table, int64_t block) = 0;

  // Charges and allocates a buffer for an answer, aligned to 64 bytes.
  virtual std::shared_ptr<FetchTicket> Allocate(const PeerId& peer, size_t size_bytes, absl::Time deadline,
                                                BufferCallback done) = 0;

  // The same for the server itself.
  std::shared_ptr<FetchTicket> Open(const TableSpec& normalized, OpenCallback done) {
    return Open(PeerId(), normalized, std::move(done));
  }
  std::shared_ptr<FetchTicket> Fetch(TablePtr table, int64_t first_block, int64_t last_block,
                                     absl::Time deadline, BlocksCallback done) {
    return Fetch(PeerId(), std::move(table), first_block, last_block, deadline, std::move(done));
  }
  std::shared_ptr<FetchTicket> Allocate(size_t size_bytes, absl::Time deadline, BufferCallback done) {
    return Allocate(PeerId(), size_bytes, deadline, std::move(done));
  }

  // Has `observer` called every 100 ms while requests wait in line, without locks and on a thread that it
  // must not block, until the handle is let go; after that, and after Shutdown, it does not run any more.
  virtual std::shared_ptr<void> WhileSomebodyWaits(WaitObserver observer) = 0;

  // Runs work on a worker thread (gathers, digests): never on the caller's.
  virtual void Run(std::function<void()> work) = 0;

  // Pins a table, so that its blocks are not evicted, or takes one pin off: a table that was pinned twice
  // needs two Unpins, or one Evict.
  // Errors: ResourceExhausted when the pinned tables would not leave room for others.
  virtual absl::Status Pin(const TablePtr& table) = 0;
  virtual void Unpin(const TableKey& key) = 0;

  // Unpins a table and drops its blocks; bytes that someone holds stay charged until they let go.
  // Errors: NotFound for a table that is neither resident nor pinned.
  virtual absl::StatusOr<EvictionResult> Evict(const TableKey& key) = 0;
  virtual EvictionResult EvictAll() = 0;

  // Tables with resident blocks or a pin, in the order of their keys.
  virtual std::vector<TableResidency> ListTables() const = 0;
  virtual StoreStats stats() const = 0;

  // Refuses new requests, ends the waiting ones with CANCELLED and joins the workers. The destructor does
  // it too. Blocks that are held outlive the store.
  virtual void Shutdown() = 0;
};

std::unique_ptr<TableStore> MakeTableStore(const TableStoreOptions& options);

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_TABLE_STORE_H_

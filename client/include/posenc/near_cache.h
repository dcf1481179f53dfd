// A cache of answers in this process, before any other connection.
//
//   auto cache = posenc::MakeCachingConnection(posenc::MakeConnection("dns:///posenc:50051"),
//                                              {.max_bytes = uint64_t{1} << 30});
//   posenc::Client client(cache);
//   client.Slice(rope, {.rows = posenc::Range{0, 128}});   // asks
//   client.Slice(rope, {.rows = posenc::Range{0, 128}});   // does not: some tens of nanoseconds
//
// What is kept: answers of Get, Slice and Gather, by table key and selection, so that two spellings of one
//   question share one answer. Once a whole table is here, its rows, positions and columns come from it:
//   whole rows next to each other as a view, anything else copied. A table's numbers are a fact, so nothing
//   grows stale; hence a stored tensor is kept only when its spec names the digest (Describe tells it). All
//   other calls pass through.
// Bound: answers and bookkeeping together never exceed max_bytes; the least recently used ones leave first.
//   An answer that alone exceeds it passes through. What callers hold beyond its eviction is theirs, and
//   a view holds the whole table.
// Single flight: callers who ask the same at the same time make one call. Each has its own timeout; an error
//   goes to all of them and is not kept, but the first caller's own timeout or stop makes the next one call.
//   The first caller's on_progress alone is called. Calls of an AsyncClient are not joined.
// Threads: any method, any thread. Callers who find their answer do not wait for each other.
// Performance: a hit neither copies numbers nor computes the key; the specs are compared field by field.

#ifndef POSENC_NEAR_CACHE_H_
#define POSENC_NEAR_CACHE_H_

#include <cstdint>
#include <memory>

#include "posenc/connection.h"

namespace posenc {
inline namespace client_v1 {

struct NearCacheOptions {
  uint64_t max_bytes = uint64_t{256} << 20;
};

struct NearCacheStats {
  uint64_t hits = 0;       // answers that were here, in any spelling
  uint64_t derived = 0;    // answers made from a whole table that was here
  uint64_t misses = 0;     // calls made, failed ones too
  uint64_t coalesced = 0;  // callers who waited for another one's call
  uint64_t evictions = 0;  // answers
  uint64_t answers = 0;    // kept now
  uint64_t bytes = 0;      // kept now, bookkeeping included
};

class CachingConnection : public Connection {
 public:
  virtual NearCacheStats stats() const = 0;

  // Drops all answers. Not counted as evictions.
  virtual void Clear() = 0;
};

std::shared_ptr<CachingConnection> MakeCachingConnection(std::shared_ptr<Connection> inner,
                                                         const NearCacheOptions& options = {});

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_NEAR_CACHE_H_

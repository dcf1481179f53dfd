// What specs mean, by their bytes: a spec that came before, in the very same bytes, is not decoded,
// normalised and hashed again. That is most of the work of a small request (server/decisions).
//
// Key:     the bytes of the TableSpec message as they came, compared in full. One table in two spellings has
//          two entries with one table key.
// Holds:   values, never a table: what the store evicts is gone, whatever is remembered here. Only specs that
//          are valid are kept, so that nobody pushes others out with errors.
// Memory:  outside of the budget, but bounded: see the limits below. The least recently used goes first.
// Catalog: one memo belongs to one catalog, which never changes after start.
// Threads: any. One mutex, held for a look-up in a map.

#ifndef POSENC_SERVER_RPC_REQUESTS_SPEC_MEMO_H_
#define POSENC_SERVER_RPC_REQUESTS_SPEC_MEMO_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "server/core/specs/spec.h"
#include "server/core/table_key.h"

namespace posenc {

// A normalised spec with its key.
struct KeyedSpec {
  TableSpec spec;
  TableKey key;
};
using KeyedSpecPtr = std::shared_ptr<const KeyedSpec>;

class SpecMemo {
 public:
  // More tables than one server has in use; with their structs less than 2 MiB.
  static constexpr size_t kMaxSpecs = 1024;
  // Of all specs' bytes together. A byte becomes nine at the most, in the key and as a number of a list, so
  // the lists of all take less than 2.5 MiB.
  static constexpr size_t kMaxBytes = size_t{256} << 10;
  // A longer spec is a list of explicit frequencies: to decode it costs little next to its table, and a few
  // of its kind would push out all others.
  static constexpr size_t kMaxSpecBytes = size_t{8} << 10;

  // Returns what was kept under these bytes, or null.
  KeyedSpecPtr Find(absl::string_view bytes);

  // Keeps a spec under its bytes, unless they are too long.
  void Keep(absl::string_view bytes, KeyedSpecPtr spec);

 private:
  struct Entry {
    std::string bytes;
    KeyedSpecPtr spec;
  };

  void Trim();

  std::mutex mutex_;
  // Guarded by mutex_:
  std::list<Entry> entries_;  // most recent first; the map's keys are their bytes
  absl::flat_hash_map<absl::string_view, std::list<Entry>::iterator> by_bytes_;
  size_t bytes_ = 0;
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_REQUESTS_SPEC_MEMO_H_

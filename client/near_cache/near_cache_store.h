// The answers that a near cache keeps, within its bound.
//
// A question is looked up as it is written: its spec gives the table, table and selection the answer. Many
// spellings may lead to one answer; those that were not met before arrive with their identity (Learn).
//
// Threads:  any. Readers take the lock of one stripe, which is their own as long as there are no more
//           threads than stripes; writers take all of them. So callers who find something share nothing but
//           the answer's reference count.
// Recent:   a stripe keeps what its readers found last, to be compared unhashed; void once a spelling left.
// Eviction: exactly by last use. A reader writes the time of its use into the answer, unless it is the latest
//           already; the heap of answers by time is corrected when something has to leave.

#ifndef POSENC_CLIENT_NEAR_CACHE_NEAR_CACHE_STORE_H_
#define POSENC_CLIENT_NEAR_CACHE_NEAR_CACHE_STORE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "client/near_cache/near_cache_keys.h"
#include "posenc/near_cache.h"
#include "posenc/table.h"

namespace posenc {

class NearCacheStore {
 public:
  explicit NearCacheStore(uint64_t max_bytes);
  ~NearCacheStore();

  // Returns the answer, or one made from the whole table. Counts a hit or a derived answer.
  std::optional<Table> Find(const TableSpec& spec, const Selection& selection);

  // Returns the table that a spec was found to mean, or that has the key; null when it is not known here.
  std::shared_ptr<const TableIdentity> TableOf(const TableSpec& spec);
  std::shared_ptr<const TableIdentity> TableOf(const TableKey& key);

  // Remembers that this spelling means `slice`. True when Find may now have something.
  bool Learn(const SliceIdentity& slice, const TableSpec& spec, const Selection& selection);

  // Keeps an answer, unless it is too large, and evicts what has to leave for it.
  void Insert(const SliceIdentity& slice, const TableSpec& spec, const Selection& selection, Table table);

  void Clear();
  // Of NearCacheStats what is known here.
  NearCacheStats stats();

 private:
  struct Answer;
  struct Record;    // a table that has answers
  struct Spelling;  // of a selection of a record
  struct SpecHash {
    size_t operator()(const TableSpec* spec) const { return HashAsWritten(*spec); }
  };
  struct SpecEqual {
    bool operator()(const TableSpec* a, const TableSpec* b) const { return a == b || SameAsWritten(*a, *b); }
  };
  struct SpellingHash {
    size_t operator()(const Spelling* spelling) const;
  };
  struct SpellingEqual {
    bool operator()(const Spelling* a, const Spelling* b) const;
  };
  struct Recent {
    uint64_t removals = 0;  // the count of the time when both were in the maps
    const TableSpec* spec = nullptr;
    const Spelling* spelling = nullptr;
  };
  struct alignas(64) Stripe {
    std::mutex mutex;  // guards the rest
    uint64_t hits = 0;
    uint64_t derived = 0;
    size_t newest = 0;  // of recent, which is written in turn
    std::array<Recent, 4> recent;
  };
  class WriterLock;
  using Age = std::pair<uint64_t, Answer*>;

  Stripe& MyStripe();
  const Spelling* FindRecent(const Stripe& stripe, const TableSpec& spec, const Selection& selection) const;
  std::optional<Table> FindInMaps(Stripe&, std::unique_lock<std::mutex>, const TableSpec&, const Selection&);
  Table Hit(Stripe& stripe, const Spelling& spelling);
  void Touch(Answer& answer);
  Record& RecordOf(const std::shared_ptr<const TableIdentity>& table);
  void AddSpec(Record& record, const TableSpec& spec);
  void DropOldestSpec(Record& record);
  void AddSpelling(Answer& answer, const Selection& selection);
  void DropSpelling(const Spelling& spelling);
  void EvictOldest();
  void Drop(Answer& answer);

  const uint64_t max_bytes_;
  std::array<Stripe, 16> stripes_;
  std::atomic<uint64_t> last_use_ = 1;  // later than that of an answer that was not used yet
  // All below: read with any stripe's lock, written with all of them.
  uint64_t bytes_ = 0;
  uint64_t evictions_ = 0;
  uint64_t removals_ = 1;  // from specs_ and spellings_
  absl::flat_hash_map<const TableSpec*, Record*, SpecHash, SpecEqual> specs_;
  absl::flat_hash_set<const Spelling*, SpellingHash, SpellingEqual> spellings_;
  absl::flat_hash_map<TableKey, std::unique_ptr<Record>> records_;
  absl::flat_hash_map<std::string, std::unique_ptr<Answer>> answers_;  // by SliceIdentity::text
  // Every answer once, by a time that is not later than its last use.
  std::priority_queue<Age, std::vector<Age>, std::greater<Age>> ages_;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_NEAR_CACHE_NEAR_CACHE_STORE_H_

// What the answer to a request must be: a server's word is compared with it before a caller sees a number.
//
// Where this process can compute a table it knows the key, and every tensor's name, type and shape. Of a
// stored tensor, and of what a newer server may know, there is less to say: see CheckAnswer.

#ifndef POSENC_CLIENT_REMOTE_EXPECTED_ANSWER_H_
#define POSENC_CLIENT_REMOTE_EXPECTED_ANSWER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "client/near_cache/near_cache_keys.h"
#include "posenc/results.h"
#include "posenc/specs.h"

namespace posenc {

struct ExpectedAnswer {
  std::optional<SliceInfo> slice = {};             // all of it, where this process knows the table
  std::optional<int64_t> rows = {};                // of a stored tensor: its leading dimension,
  std::optional<ElementType> element_type = {};    // and its type, where the request names them
};

// Errors: Internal that names what differs: no tensors, two of one name, a key that is none, and whatever is
// not as `expected`. SHA-256 digests of contents are not looked at.
absl::Status CheckAnswer(const ExpectedAnswer& expected, const std::string& key,
                         std::span<const TensorInfo> tensors);

// The same for the header of a stream or, with all rows and bytes, for a description.
absl::Status CheckAnswer(const ExpectedAnswer& expected, const SliceInfo& answer);

// Knows the tables of the specs that were asked for last.
//
// Threads: any. Cost: about a microsecond for a spec that is known, with positions a copy of them; else that
// of a generator, some tens of microseconds.
class ExpectedAnswers {
 public:
  ExpectedAnswer Of(const TableSpec& spec, const Selection& selection);

 private:
  struct Hash {
    size_t operator()(const TableSpec* spec) const { return HashAsWritten(*spec); }
  };
  struct Equal {
    bool operator()(const TableSpec* a, const TableSpec* b) const { return SameAsWritten(*a, *b); }
  };

  std::shared_ptr<const TableIdentity> TableOf(const TableSpec& spec);

  std::mutex mutex_;
  // Both guarded by mutex_. Null: nothing is known of the table.
  std::deque<TableSpec> specs_;  // the oldest first; members of a deque stay where they are
  absl::flat_hash_map<const TableSpec*, std::shared_ptr<const TableIdentity>, Hash, Equal> tables_;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_EXPECTED_ANSWER_H_

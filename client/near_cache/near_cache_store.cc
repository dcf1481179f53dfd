#include "client/near_cache/near_cache_store.h"

#include <deque>

#include "absl/hash/hash.h"
#include "client/api/table_view.h"

namespace posenc {
namespace {

// One question is rarely written in more ways; a further one replaces the first.
constexpr size_t kMaxSpellings = 8;

// About what the maps, names and shapes of one answer and of one table take.
constexpr uint64_t kAnswerBytes = 512;
constexpr uint64_t kRecordBytes = 1024;

uint64_t BytesOf(const Selection& selection) {
  return sizeof(Selection) + 8 * (selection.positions.size() + selection.real_positions.size() +
                                  selection.axis_positions.size());
}

// Lists in a spec are as long as the text of its key, at most.
uint64_t BytesOf(const TableSpec& spec) { return sizeof(TableSpec) + CanonicalText(spec).size(); }

}  // namespace

struct NearCacheStore::Spelling {
  const Record* record;
  const Selection* selection;
  Answer* answer = nullptr;
  uint64_t bytes = 0;
};

struct NearCacheStore::Record {
  std::shared_ptr<const TableIdentity> table;
  std::deque<std::pair<std::unique_ptr<const TableSpec>, uint64_t>> specs;  // with their bytes
  Answer* whole = nullptr;
  size_t answers = 0;
};

struct NearCacheStore::Answer {
  // Where the selection and its place in the set of spellings live.
  struct Written {
    Selection selection;
    Spelling spelling;
  };

  Table table;
  std::string identity;
  Record* record = nullptr;
  uint64_t bytes = 0;
  std::atomic<uint64_t> last_use = 0;
  std::deque<Written> written = {};
};

// Takes every stripe, in order, so that no reader is inside.
class NearCacheStore::WriterLock {
 public:
  explicit WriterLock(NearCacheStore& store) : stripes_(store.stripes_) {
    for (Stripe& stripe : stripes_) stripe.mutex.lock();
  }
  ~WriterLock() {
    for (Stripe& stripe : stripes_) stripe.mutex.unlock();
  }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  std::array<Stripe, 16>& stripes_;
};

NearCacheStore::NearCacheStore(uint64_t max_bytes) : max_bytes_(max_bytes) {}
NearCacheStore::~NearCacheStore() = default;

size_t NearCacheStore::SpellingHash::operator()(const Spelling* spelling) const {
  return reinterpret_cast<uintptr_t>(spelling->record) / sizeof(void*) + HashAsWritten(*spelling->selection);
}

bool NearCacheStore::SpellingEqual::operator()(const Spelling* a, const Spelling* b) const {
  return a->record == b->record && SameAsWritten(*a->selection, *b->selection);
}

inline NearCacheStore::Stripe& NearCacheStore::MyStripe() {
  static std::atomic<size_t> threads = 0;
  // Numbered from 1 on; a constant at first, as one that is computed is asked for through a function.
  static constinit thread_local size_t mine = 0;
  if (mine == 0) mine = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return stripes_[mine % stripes_.size()];
}

inline void NearCacheStore::Touch(Answer& answer) {
  // One answer asked for again and again costs no writing to shared memory.
  if (answer.last_use.load(std::memory_order_relaxed) == last_use_.load(std::memory_order_relaxed)) return;
  answer.last_use.store(last_use_.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

const NearCacheStore::Spelling* NearCacheStore::FindRecent(const Stripe& stripe, const TableSpec& spec,
                                                           const Selection& selection) const {
  for (size_t age = 0; age < stripe.recent.size(); ++age) {
    const Recent& recent = stripe.recent[(stripe.newest - age) % stripe.recent.size()];
    // Older ones are void then, too.
    if (recent.removals != removals_) return nullptr;
    if (!SameAsWritten(*recent.spelling->selection, selection)) continue;
    if (SameAsWritten(*recent.spec, spec)) return recent.spelling;
  }
  return nullptr;
}

inline Table NearCacheStore::Hit(Stripe& stripe, const Spelling& spelling) {
  Touch(*spelling.answer);
  ++stripe.hits;
  return spelling.answer->table;
}

std::optional<Table> NearCacheStore::Find(const TableSpec& spec, const Selection& selection) {
  Stripe& stripe = MyStripe();
  std::unique_lock lock(stripe.mutex);
  if (const Spelling* recent = FindRecent(stripe, spec, selection)) return Hit(stripe, *recent);
  return FindInMaps(stripe, std::move(lock), spec, selection);
}

std::optional<Table> NearCacheStore::FindInMaps(Stripe& stripe, std::unique_lock<std::mutex> lock,
                                                const TableSpec& spec, const Selection& selection) {
  const auto record = specs_.find(&spec);
  if (record == specs_.end()) return std::nullopt;
  const Spelling asked{.record = record->second, .selection = &selection};
  const auto found = spellings_.find(&asked);
  if (found != spellings_.end()) {
    stripe.recent[++stripe.newest % stripe.recent.size()] = {removals_, record->first, *found};
    return Hit(stripe, **found);
  }
  Answer* const whole = record->second->whole;
  if (whole == nullptr) return std::nullopt;
  const std::shared_ptr<const TableIdentity> table = record->second->table;
  const Table numbers = whole->table;
  Touch(*whole);
  lock.unlock();
  const absl::StatusOr<SlicePlan> plan = ResolveSelection(selection, *table->shape);
  if (!plan.ok()) return std::nullopt;
  std::optional<Table> part = PartOfWhole(numbers, *table->shape, *plan);
  if (!part) return std::nullopt;
  lock.lock();
  ++stripe.derived;
  return part;
}

std::shared_ptr<const TableIdentity> NearCacheStore::TableOf(const TableSpec& spec) {
  const std::lock_guard lock(MyStripe().mutex);
  const auto record = specs_.find(&spec);
  return record == specs_.end() ? nullptr : record->second->table;
}

std::shared_ptr<const TableIdentity> NearCacheStore::TableOf(const TableKey& key) {
  const std::lock_guard lock(MyStripe().mutex);
  const auto record = records_.find(key);
  return record == records_.end() ? nullptr : record->second->table;
}

NearCacheStore::Record& NearCacheStore::RecordOf(const std::shared_ptr<const TableIdentity>& table) {
  std::unique_ptr<Record>& record = records_[table->key];
  if (record == nullptr) {
    record = std::make_unique<Record>();
    record->table = table;
    bytes_ += kRecordBytes;
  }
  return *record;
}

void NearCacheStore::DropOldestSpec(Record& record) {
  ++removals_;
  specs_.erase(record.specs.front().first.get());
  bytes_ -= record.specs.front().second;
  record.specs.pop_front();
}

void NearCacheStore::AddSpec(Record& record, const TableSpec& spec) {
  if (specs_.contains(&spec)) return;
  if (record.specs.size() == kMaxSpellings) DropOldestSpec(record);
  auto& [copy, bytes] = record.specs.emplace_back(std::make_unique<const TableSpec>(spec), BytesOf(spec));
  specs_[copy.get()] = &record;
  bytes_ += bytes;
}

void NearCacheStore::DropSpelling(const Spelling& spelling) {
  ++removals_;
  spellings_.erase(&spelling);
  bytes_ -= spelling.bytes;
}

void NearCacheStore::AddSpelling(Answer& answer, const Selection& selection) {
  const Spelling asked{.record = answer.record, .selection = &selection};
  if (spellings_.contains(&asked)) return;
  if (answer.written.size() == kMaxSpellings) {
    DropSpelling(answer.written.front().spelling);
    answer.written.pop_front();
  }
  Answer::Written& written = answer.written.emplace_back();
  written.selection = selection;
  written.spelling = {answer.record, &written.selection, &answer, BytesOf(selection)};
  spellings_.insert(&written.spelling);
  bytes_ += written.spelling.bytes;
}

bool NearCacheStore::Learn(const SliceIdentity& slice, const TableSpec& spec, const Selection& selection) {
  const WriterLock lock(*this);
  const auto record = records_.find(slice.table->key);
  if (record == records_.end()) return false;
  AddSpec(*record->second, spec);
  const auto answer = answers_.find(slice.text);
  if (answer != answers_.end()) AddSpelling(*answer->second, selection);
  const bool found = answer != answers_.end() || record->second->whole != nullptr;
  while (bytes_ > max_bytes_) EvictOldest();
  return found;
}

void NearCacheStore::Insert(const SliceIdentity& slice, const TableSpec& spec, const Selection& selection,
                            Table table) {
  const uint64_t bytes = table.size_bytes() + kAnswerBytes + 2 * slice.text.size();
  if (bytes + kRecordBytes + BytesOf(spec) + BytesOf(selection) > max_bytes_) return;
  const WriterLock lock(*this);
  Record& record = RecordOf(slice.table);
  std::unique_ptr<Answer>& answer = answers_[slice.text];
  if (answer == nullptr) {
    answer = std::make_unique<Answer>();
    answer->table = std::move(table);
    answer->identity = slice.text;
    answer->record = &record;
    answer->bytes = bytes;
    if (slice.whole) record.whole = answer.get();
    ++record.answers;
    bytes_ += bytes;
    Touch(*answer);
    ages_.emplace(answer->last_use, answer.get());
  }
  AddSpec(record, spec);
  AddSpelling(*answer, selection);
  // The new answer is the latest, and leaves last: only once nothing else is there, which its own bytes rule
  // out.
  while (bytes_ > max_bytes_) EvictOldest();
}

void NearCacheStore::EvictOldest() {
  while (true) {
    const auto [time, answer] = ages_.top();
    ages_.pop();
    const uint64_t last_use = answer->last_use;
    if (last_use == time) {
      ++evictions_;
      return Drop(*answer);
    }
    ages_.emplace(last_use, answer);
  }
}

void NearCacheStore::Drop(Answer& answer) {
  Record& record = *answer.record;
  for (const Answer::Written& written : answer.written) DropSpelling(written.spelling);
  bytes_ -= answer.bytes;
  if (record.whole == &answer) record.whole = nullptr;
  if (--record.answers == 0) {
    while (!record.specs.empty()) DropOldestSpec(record);
    bytes_ -= kRecordBytes;
    records_.erase(TableKey(record.table->key));
  }
  answers_.erase(std::string(answer.identity));
}

void NearCacheStore::Clear() {
  const WriterLock lock(*this);
  ++removals_;
  spellings_.clear();
  specs_.clear();
  records_.clear();
  answers_.clear();
  ages_ = {};
  bytes_ = 0;
}

NearCacheStats NearCacheStore::stats() {
  const WriterLock lock(*this);
  NearCacheStats stats{.evictions = evictions_, .answers = answers_.size(), .bytes = bytes_};
  for (const Stripe& stripe : stripes_) {
    stats.hits += stripe.hits;
    stats.derived += stripe.derived;
  }
  return stats;
}

}  // namespace posenc

#include "client/near_cache/near_cache_keys.h"

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "server/core/specs/field.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/table_generator.h"

namespace posenc {
namespace {

template <typename T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <Scalar T>
uint64_t BitsOf(T value) {
  if constexpr (std::same_as<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

template <typename List>  // std::string too
absl::string_view BytesOf(const List& list) {
  return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0])};
}

// Two cycles for a field: the comparison that follows forgives a collision.
class Hasher {
 public:
  void Add(uint64_t bits) { state_ = std::rotl(state_, 13) + bits; }

  template <typename T>
  void Add(const T& value) {
    if constexpr (Scalar<T>) {
      Add(BitsOf(value));
    } else if constexpr (kIsOptional<T>) {
      Add(uint64_t{value.has_value()});
      if (value) Add(*value);
    } else if constexpr (kIsVariant<T>) {
      Add(uint64_t{value.index()});
      std::visit([this](const auto& alternative) { Add(alternative); }, value);
    } else if constexpr (Record<T>) {
      T::Fields(value, [this](const Field&, const auto& member) { Add(member); });
    } else if constexpr (!std::same_as<T, std::monostate>) {
      if (!value.empty()) Add(uint64_t{absl::HashOf(BytesOf(value))});
    }
  }

  size_t Finish() const { return absl::HashOf(state_); }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15;
};

template <typename T>
bool Same(const T& a, const T& b);

// Fields visits one record at a time; the other's member is at the same place within it.
template <Record T>
bool SameRecord(const T& a, const T& b) {
  bool same = true;
  const uintptr_t apart = reinterpret_cast<uintptr_t>(&b) - reinterpret_cast<uintptr_t>(&a);
  T::Fields(a, [apart, &same]<typename Member>(const Field&, const Member& member) {
    const auto* other = reinterpret_cast<const Member*>(reinterpret_cast<uintptr_t>(&member) + apart);
    same = same && Same(member, *other);
  });
  return same;
}

template <typename Variant>
bool SameVariant(const Variant& a, const Variant& b) {
  if (a.index() != b.index()) return false;
  return std::visit([&]<typename T>(const T& alternative) { return Same(alternative, *std::get_if<T>(&b)); },
                    a);
}

template <typename T>
bool Same(const T& a, const T& b) {
  if constexpr (Scalar<T>) {
    return BitsOf(a) == BitsOf(b);
  } else if constexpr (kIsOptional<T>) {
    return a.has_value() == b.has_value() && (!a || Same(*a, *b));
  } else if constexpr (kIsVariant<T>) {
    return SameVariant(a, b);
  } else if constexpr (Record<T>) {
    return SameRecord(a, b);
  } else if constexpr (std::same_as<T, std::monostate>) {
    return true;
  } else {
    return a.size() == b.size() && (a.empty() || BytesOf(a) == BytesOf(b));
  }
}

void AddRange(const std::optional<Range>& range, Hasher& hasher) {
  hasher.Add(uint64_t{range.has_value()});
  if (!range) return;
  hasher.Add(range->begin);
  hasher.Add(range->end.value_or(-1));
}

bool SameRange(const std::optional<Range>& a, const std::optional<Range>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->begin == b->begin && a->end == b->end);
}

// Whether the spec says which numbers a stored tensor must have, where it names one.
bool IsFact(const TableSpec& spec) {
  if (const auto* learned = std::get_if<LearnedSpec>(&spec.family)) return !learned->content_sha256.empty();
  const auto* buckets = std::get_if<RelativeBucketSpec>(&spec.family);
  return buckets == nullptr || buckets->weight.empty() || !buckets->weight_sha256.empty();
}

// Appends values that are 8 bytes each, with their number.
template <typename List>
void AppendList(const List& list, std::string& text) {
  const uint64_t size = list.size();
  const absl::string_view bytes = BytesOf(list);
  text.append(reinterpret_cast<const char*>(&size), sizeof(size));
  text.append(bytes.data(), bytes.size());
}

void AppendRange(const std::optional<Range>& range, std::string& text) {
  std::vector<int64_t> numbers;
  if (range) numbers = {range->begin};
  if (range && range->end) numbers.push_back(*range->end);
  AppendList(numbers, text);
}

void AppendPlan(const SlicePlan& plan, std::string& text) {
  std::vector<int64_t> numbers = {plan.position_axes, plan.column_begin, plan.column_end};
  for (const RowRun& run : plan.runs) numbers.insert(numbers.end(), {run.begin, run.end});
  AppendList(numbers, text);
  AppendList(plan.positions, text);
  AppendList(plan.row_dims, text);
}

void AppendAsWritten(const Selection& selection, std::string& text) {
  for (const auto* range : {&selection.rows, &selection.columns, &selection.heads, &selection.keys}) {
    AppendRange(*range, text);
  }
  AppendList(selection.positions, text);
  AppendList(selection.real_positions, text);
  AppendList(selection.axis_positions, text);
}

}  // namespace

size_t HashAsWritten(const TableSpec& spec) {
  Hasher hasher;
  hasher.Add(spec.family);
  hasher.Add(spec.element_type);
  hasher.Add(spec.arithmetic);
  return hasher.Finish();
}

bool SameAsWritten(const TableSpec& a, const TableSpec& b) {
  return a.element_type == b.element_type && a.arithmetic == b.arithmetic && Same(a.family, b.family);
}

size_t HashAsWritten(const Selection& selection) {
  Hasher hasher;
  AddRange(selection.rows, hasher);
  AddRange(selection.columns, hasher);
  AddRange(selection.heads, hasher);
  AddRange(selection.keys, hasher);
  hasher.Add(selection.positions);
  hasher.Add(selection.real_positions);
  hasher.Add(selection.axis_positions);
  return hasher.Finish();
}

bool SameAsWritten(const Selection& a, const Selection& b) {
  return SameRange(a.rows, b.rows) && SameRange(a.columns, b.columns) && SameRange(a.heads, b.heads) &&
         SameRange(a.keys, b.keys) && Same(a.positions, b.positions) &&
         Same(a.real_positions, b.real_positions) && Same(a.axis_positions, b.axis_positions);
}

std::optional<TableKey> IdentifyKey(const TableSpec& spec) {
  if (!IsFact(spec)) return std::nullopt;
  const absl::StatusOr<TableSpec> normalized = Normalize(spec);
  if (!normalized.ok()) return std::nullopt;
  return KeyOf(*normalized);
}

std::shared_ptr<const TableIdentity> IdentifyTable(const TableSpec& spec) {
  if (!IsFact(spec)) return nullptr;
  const absl::StatusOr<TableSpec> normalized = Normalize(spec);
  if (!normalized.ok()) return nullptr;
  TableIdentity identity{.key = KeyOf(*normalized), .shape = std::nullopt};
  // Without a catalog there is none for stored tensors, and none for what this library does not know.
  const auto generator = MakeTableGenerator(*normalized);
  if (generator.ok()) identity.shape = (*generator)->shape();
  return std::make_shared<const TableIdentity>(std::move(identity));
}

std::optional<SliceIdentity> IdentifySlice(std::shared_ptr<const TableIdentity> table,
                                           const Selection& selection) {
  SliceIdentity slice{.table = std::move(table), .plan = std::nullopt, .text = {}};
  slice.text.append(reinterpret_cast<const char*>(slice.table->key.digest.data()), sizeof(TableKey));
  const std::optional<TableShape>& shape = slice.table->shape;
  if (!shape) {
    AppendAsWritten(selection, slice.text);
    return slice;
  }
  absl::StatusOr<SlicePlan> plan = ResolveSelection(selection, *shape);
  if (!plan.ok()) return std::nullopt;
  slice.whole = plan->whole_rows && plan->row_dims == shape->row_dims && plan->runs.size() == 1 &&
                plan->runs.front().count() == shape->rows();
  AppendPlan(*plan, slice.text);
  slice.plan = *std::move(plan);
  return slice;
}

}  // namespace posenc

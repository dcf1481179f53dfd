#include "client/remote/expected_answer.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/local/local_slice.h"
#include "server/core/table_key.h"

namespace posenc {
namespace {

// More than a program asks for in turn. A spec has at most the 64 KiB of its key's text.
constexpr size_t kMaxKnownTables = 64;

absl::Status Wrong(absl::string_view what) {
  return absl::InternalError(absl::StrCat("the server's answer is not to the request: ", what));
}

std::string TextOf(const TensorInfo& tensor) {
  return absl::StrCat("'", tensor.name, "' [", absl::StrJoin(tensor.shape, ", "), "] of type ",
                      static_cast<int>(tensor.element_type));
}

bool IsSame(const TensorInfo& a, const TensorInfo& b) {
  return a.name == b.name && a.element_type == b.element_type && a.shape == b.shape;
}

// What holds of every answer.
absl::Status CheckForm(const std::string& key, std::span<const TensorInfo> tensors) {
  if (!TableKey::FromHex(key).ok()) return Wrong(absl::StrCat("its table_key '", key, "' is none"));
  if (tensors.empty()) return Wrong("it has no tensors");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto is_namesake = [&](const TensorInfo& other) { return other.name == tensors[i].name; };
    if (tensors[i].name.empty()) return Wrong("a tensor has no name");
    if (!std::ranges::any_of(tensors.first(i), is_namesake)) continue;
    return Wrong(absl::StrCat("two tensors have the name '", tensors[i].name, "'"));
  }
  return absl::OkStatus();
}

// What a request says by itself of rows of a stored tensor.
ExpectedAnswer OfStoredTensor(const TableSpec& spec, const Selection& selection) {
  ExpectedAnswer expected;
  if (!std::holds_alternative<LearnedSpec>(spec.family)) return expected;
  if (spec.element_type != ElementType::kUnspecified) expected.element_type = spec.element_type;
  if (!selection.positions.empty()) {
    expected.rows = static_cast<int64_t>(selection.positions.size());
  } else if (selection.rows && selection.rows->end) {
    expected.rows = *selection.rows->end - selection.rows->begin;
  }
  return expected;
}

}  // namespace

absl::Status CheckAnswer(const ExpectedAnswer& expected, const std::string& key,
                         std::span<const TensorInfo> tensors) {
  if (absl::Status status = CheckForm(key, tensors); !status.ok()) return status;
  for (const TensorInfo& tensor : tensors) {
    const bool other_rows = expected.rows && (tensor.shape.empty() || tensor.shape.front() != *expected.rows);
    const bool other_type = expected.element_type && tensor.element_type != *expected.element_type;
    if (other_rows || other_type) return Wrong(absl::StrCat("it has tensor ", TextOf(tensor)));
  }
  if (!expected.slice) return absl::OkStatus();
  if (key != expected.slice->key) {
    return Wrong(absl::StrCat("its table_key is ", key, ", the request means ", expected.slice->key));
  }
  if (tensors.size() != expected.slice->tensors.size()) {
    return Wrong(absl::StrCat("it has ", tensors.size(), " tensors of ", expected.slice->tensors.size()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorInfo& wanted = expected.slice->tensors[i];
    if (IsSame(tensors[i], wanted)) continue;
    return Wrong(absl::StrCat("it has tensor ", TextOf(tensors[i]), ", the request means ", TextOf(wanted)));
  }
  return absl::OkStatus();
}

absl::Status CheckAnswer(const ExpectedAnswer& expected, const SliceInfo& answer) {
  if (absl::Status status = CheckAnswer(expected, answer.key, answer.tensors); !status.ok()) return status;
  if (!expected.slice) return absl::OkStatus();
  if (answer.row_count == expected.slice->row_count && answer.size_bytes == expected.slice->size_bytes) {
    return absl::OkStatus();
  }
  return Wrong(absl::StrCat("it has ", answer.row_count, " rows of ", answer.size_bytes, " bytes, the request means ",
                            expected.slice->row_count, " of ", expected.slice->size_bytes));
}

std::shared_ptr<const TableIdentity> ExpectedAnswers::TableOf(const TableSpec& spec) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = tables_.find(&spec); known != tables_.end()) return known->second;
  }
  std::shared_ptr<const TableIdentity> table = IdentifyTable(spec);
  const std::lock_guard lock(mutex_);
  if (tables_.contains(&spec)) return table;  // another thread was quicker
  if (specs_.size() == kMaxKnownTables) {
    tables_.erase(&specs_.front());
    specs_.pop_front();
  }
  tables_[&specs_.emplace_back(spec)] = table;
  return table;
}

ExpectedAnswer ExpectedAnswers::Of(const TableSpec& spec, const Selection& selection) {
  const std::shared_ptr<const TableIdentity> table = TableOf(spec);
  if (table == nullptr || !table->shape) return OfStoredTensor(spec, selection);
  const absl::StatusOr<SlicePlan> plan = ResolveSelection(selection, *table->shape);
  if (!plan.ok()) return {};  // the server says what is wrong with it
  return {.slice = SliceInfoOf(table->key.ToHex(), *table->shape, *plan)};
}

}  // namespace posenc

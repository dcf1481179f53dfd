#include "client/api/table_view.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "posenc/table_builder.h"

namespace posenc {
namespace {

// What Table promises of every tensor's begin.
constexpr int64_t kAlignment = 64;

bool IsOfShape(const Table& whole, const TableShape& shape) {
  if (whole.tensors().size() != shape.tensors.size()) return false;
  for (size_t i = 0; i < shape.tensors.size(); ++i) {
    const TensorInfo& info = whole.tensors()[i];
    const TensorShape& tensor = shape.tensors[i];
    if (info.name != tensor.name || info.element_type != tensor.element_type) return false;
    if (static_cast<int64_t>(whole.bytes(info.name).size()) != shape.rows() * tensor.row_bytes()) return false;
  }
  return true;
}

// Returns runs of the table's rows in the order of the answer.
std::optional<std::vector<RowRun>> RunsOf(const TableShape& shape, const SlicePlan& plan) {
  if (plan.positions.empty()) return plan.runs;
  std::vector<RowRun> runs;
  for (int64_t i = 0; i < plan.row_count(); ++i) {
    const std::optional<int64_t> row = RowOfPosition(shape, plan, i);
    if (!row) return std::nullopt;
    if (!runs.empty() && runs.back().end == *row) {
      ++runs.back().end;
    } else {
      runs.push_back({*row, *row + 1});
    }
  }
  return runs;
}

std::vector<TensorInfo> InfosOf(const TableShape& shape, const SlicePlan& plan) {
  std::vector<TensorInfo> infos;
  for (const TensorShape& tensor : shape.tensors) {
    infos.push_back({.name = tensor.name,
                     .element_type = tensor.element_type,
                     .shape = plan.TensorDims(tensor)});
  }
  return infos;
}

Table View(const Table& whole, const TableShape& shape, const SlicePlan& plan, int64_t first_row) {
  std::byte* const front = const_cast<std::byte*>(whole.bytes(shape.tensors.front().name).data());
  std::vector<int64_t> offsets;
  for (const TensorShape& tensor : shape.tensors) {
    offsets.push_back(whole.bytes(tensor.name).data() - front + first_row * tensor.row_bytes());
  }
  // Adopt never writes; what is kept is the whole table.
  std::shared_ptr<std::byte> memory(std::make_shared<const Table>(whole), front);
  return TableBuilder::Adopt(whole.key(), InfosOf(shape, plan), std::move(memory), offsets);
}

void CopyTensor(std::span<const std::byte> from, const TensorShape& tensor, const SlicePlan& plan,
                const std::vector<RowRun>& runs, std::byte* to) {
  const int64_t bytes = (plan.column_end - plan.column_begin) * tensor.column_bytes();
  for (const RowRun& run : runs) {
    for (int64_t row = run.begin; row < run.end; ++row, to += bytes) {
      std::memcpy(to, from.data() + row * tensor.row_bytes() + plan.column_begin * tensor.column_bytes(),
                  static_cast<size_t>(bytes));
    }
  }
}

}  // namespace

std::optional<Table> PartOfWhole(const Table& whole, const TableShape& shape, const SlicePlan& plan) {
  if (plan.row_count() == 0 || plan.column_begin == plan.column_end || !IsOfShape(whole, shape)) {
    return std::nullopt;
  }
  const auto runs = RunsOf(shape, plan);
  if (!runs) return std::nullopt;
  bool can_view = plan.whole_rows && runs->size() == 1;
  for (const TensorShape& tensor : shape.tensors) {
    can_view = can_view && runs->front().begin * tensor.row_bytes() % kAlignment == 0;
  }
  if (can_view) return View(whole, shape, plan, runs->front().begin);
  auto builder = TableBuilder::Allocate(whole.key(), InfosOf(shape, plan));
  if (!builder.ok()) return std::nullopt;
  for (size_t i = 0; i < shape.tensors.size(); ++i) {
    CopyTensor(whole.bytes(shape.tensors[i].name), shape.tensors[i], plan, *runs, builder->data()[i].data());
  }
  return (*std::move(builder)).Build();
}

}  // namespace posenc

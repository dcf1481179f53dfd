#include "client/local/local_slice.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/remote/destinations.h"
#include "server/core/crc32c.h"
#include "server/core/limits.h"
#include "server/core/specs/normalize.h"
#include "server/core/table_key.h"
#include "server/core/violations.h"

namespace posenc {
namespace {

// As the service answers: an empty selection of a table that is one row shows as a leading 0.
std::vector<int64_t> DimsOf(const SlicePlan& plan, const TensorShape& tensor) {
  std::vector<int64_t> dims = plan.TensorDims(tensor);
  if (plan.row_dims.empty() && plan.row_count() == 0) dims.insert(dims.begin(), 0);
  return dims;
}

}  // namespace

SliceInfo SliceInfoOf(std::string key, const TableShape& shape, const SlicePlan& plan) {
  SliceInfo info{.key = std::move(key), .row_count = plan.row_count(), .size_bytes = plan.total_bytes(shape)};
  for (const TensorShape& tensor : shape.tensors) {
    info.tensors.push_back({.name = tensor.name,
                            .element_type = tensor.element_type,
                            .shape = DimsOf(plan, tensor)});
  }
  return info;
}

absl::StatusOr<LocalSlice> LocalSlice::Make(const TableSpec& spec, const Selection& selection,
                                            const TensorCatalog& catalog) {
  LocalSlice slice;
  const absl::StatusOr<TableSpec> normalized = Normalize(spec);
  // The paths of a request's fields, as the service names them.
  if (!normalized.ok()) return PrefixFields(normalized.status(), "spec");
  slice.spec_ = *normalized;
  if (absl::Status bound = BindTensors(catalog, slice.spec_); !bound.ok()) return PrefixFields(bound, "spec");
  auto generator = MakeTableGenerator(slice.spec_, catalog);
  if (!generator.ok()) return PrefixFields(generator.status(), "spec");
  slice.generator_ = *std::move(generator);
  absl::StatusOr<SlicePlan> plan = ResolveSelection(selection, slice.generator_->shape());
  if (!plan.ok()) return plan.status();
  slice.plan_ = *std::move(plan);
  slice.info_ = SliceInfoOf(KeyOf(slice.spec_).ToHex(), slice.generator_->shape(), slice.plan_);
  return slice;
}

int64_t LocalSlice::row_bytes(size_t tensor) const {
  const int64_t columns = plan_.column_end - plan_.column_begin;
  return columns * generator_->shape().tensors[tensor].column_bytes();
}

void LocalSlice::GenerateWholeRows(int64_t first_row, int64_t row_count, Pointers out) const {
  if (!plan_.positions.empty()) {
    const int64_t axes = plan_.position_axes;
    const auto positions = std::span(plan_.positions).subspan(first_row * axes, row_count * axes);
    generator_->GenerateAt(positions, out);
    return;
  }
  for (const RowRun& run : plan_.runs) {
    // Rows of this run that are wanted, counted within the run.
    const int64_t begin = std::clamp<int64_t>(first_row, 0, run.count());
    const int64_t end = std::clamp<int64_t>(first_row + row_count, 0, run.count());
    if (begin < end) {
      generator_->Generate(run.begin + begin, end - begin, out);
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] += (end - begin) * generator_->shape().tensors[i].row_bytes();
      }
    }
    first_row -= run.count();
  }
}

void LocalSlice::GenerateColumns(int64_t first_row, int64_t row_count, Pointers out) const {
  const std::vector<TensorShape>& tensors = generator_->shape().tensors;
  const int64_t step = std::min(RowsPerChunk(), row_count);
  std::vector<std::vector<std::byte>> rows;
  Pointers whole;
  for (const TensorShape& tensor : tensors) {
    whole.push_back(rows.emplace_back(step * tensor.row_bytes()).data());
  }
  for (int64_t done = 0; done < row_count; done += step) {
    const int64_t count = std::min(step, row_count - done);
    GenerateWholeRows(first_row + done, count, whole);
    for (size_t i = 0; i < tensors.size(); ++i) {
      const int64_t offset = plan_.column_begin * tensors[i].column_bytes();
      for (int64_t row = 0; row < count; ++row) {
        std::memcpy(out[i], whole[i] + row * tensors[i].row_bytes() + offset, row_bytes(i));
        out[i] += row_bytes(i);
      }
    }
  }
}

void LocalSlice::Generate(int64_t first_row, int64_t row_count,
                          std::span<const std::span<std::byte>> destinations) const {
  Pointers out;
  for (std::span<std::byte> destination : destinations) out.push_back(destination.data());
  if (row_count == 0 || plan_.column_begin == plan_.column_end) return;
  if (plan_.whole_rows) {
    GenerateWholeRows(first_row, row_count, std::move(out));
  } else {
    GenerateColumns(first_row, row_count, std::move(out));
  }
}

uint32_t LocalSlice::ChecksumOfRows(int64_t row_count,
                                    std::span<const std::span<std::byte>> memory) const {
  uint32_t crc32c = 0;
  for (size_t i = 0; i < memory.size(); ++i) {
    crc32c = ExtendCrc32c(crc32c, memory[i].first(row_count * row_bytes(i)));
  }
  return crc32c;
}

absl::Status LocalSlice::StreamChecksums(const StreamParams& params) const {
  const int64_t step = RowsPerChunk();
  std::vector<std::vector<std::byte>> scratch;
  for (size_t i = 0; i < info_.tensors.size(); ++i) scratch.emplace_back(step * row_bytes(i));
  const std::vector<std::span<std::byte>> memory(scratch.begin(), scratch.end());
  for (int64_t row = params.skip_rows; params.on_chunk && row < info_.row_count; row += step) {
    const int64_t count = std::min(step, info_.row_count - row);
    Generate(row, count, memory);
    absl::Status status = params.on_chunk({.slice = info_,
                                           .first_row = row,
                                           .row_count = count,
                                           .crc32c = ChecksumOfRows(count, memory)});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

int64_t LocalSlice::RowsPerChunk() const {
  const auto chunk = static_cast<int64_t>(limits::kDefaultBlockBytes);
  return std::max<int64_t>(1, chunk / std::max<int64_t>(1, generator_->shape().row_bytes()));
}

absl::Status LocalSlice::Stream(const StreamParams& params) const {
  if (params.skip_rows < 0 || params.skip_rows > info_.row_count) {
    Violations bad;
    bad.Add("skip_rows", params.skip_rows, absl::StrCat("0 to ", info_.row_count));
    return bad.ToStatus(absl::StatusCode::kOutOfRange);
  }
  if (params.checksums_only) return StreamChecksums(params);
  const auto destinations = AskForDestinations(params, info_);
  if (!destinations.ok()) return destinations.status();
  std::vector<std::vector<std::byte>> scratch(info_.tensors.size());
  const int64_t step = RowsPerChunk();
  for (int64_t row = params.skip_rows; row < info_.row_count; row += step) {
    const int64_t count = std::min(step, info_.row_count - row);
    std::vector<std::span<std::byte>> memory;
    for (size_t i = 0; i < info_.tensors.size(); ++i) {
      const int64_t size = count * row_bytes(i);
      if (destinations->empty()) {
        scratch[i].resize(size);
        memory.push_back(scratch[i]);
      } else {
        memory.push_back((*destinations)[i].subspan(row * row_bytes(i), size));
      }
    }
    Generate(row, count, memory);
    if (!params.on_chunk) continue;
    const std::vector<std::span<const std::byte>> tensors(memory.begin(), memory.end());
    absl::Status status = params.on_chunk(
        {.slice = info_, .first_row = row, .row_count = count, .tensors = tensors});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace posenc

#include "server/encodings/rope/still_axis.h"

#include <cstring>
#include <utility>

namespace posenc {

StillAxisGenerator::StillAxisGenerator(std::shared_ptr<const TableGenerator> rows, const PhasorForm& form)
    : rows_(std::move(rows)), facts_(rows_->facts()), element_bytes_(form.element_bytes()) {
  const auto last = static_cast<int32_t>(form.shape.position_axes) - 1;
  const auto add = [&](const Place& place, int64_t element) {
    still_.push_back({place.tensor, (place.begin + element) * static_cast<int64_t>(element_bytes_)});
  };
  for (const Segment& segment : form.layout.segments) {
    for (int64_t i = 0; i < segment.pairs(); ++i) {
      if (form.AxisOf(segment.first_pair + i) != last) continue;
      for (int copy = 0; copy < segment.copies; ++copy) {
        if (i < segment.cosines) add(segment.cos[copy], i * segment.step());
        if (i < segment.sines) add(segment.sin[copy], i * segment.step());
      }
    }
  }
  std::vector<std::byte*> out;
  for (const TensorShape& tensor : shape().tensors) {
    out.push_back(at_zero_.emplace_back(static_cast<size_t>(tensor.row_bytes())).data());
  }
  rows_->GenerateAt(std::vector<double>(static_cast<size_t>(shape().position_axes), 0.0), out);
  facts_.notes.push_back("rows by index and single positions have 0 on the last axis");
}

size_t StillAxisGenerator::footprint_bytes() const {
  size_t bytes = sizeof(*this) + rows_->footprint_bytes() + still_.capacity() * sizeof(Cell);
  for (const std::vector<std::byte>& row : at_zero_) bytes += row.capacity();
  return bytes;
}

void StillAxisGenerator::Generate(int64_t first_row, int64_t row_count,
                                  std::span<std::byte* const> out) const {
  rows_->Generate(first_row, row_count, out);
  for (int64_t row = 0; row < row_count; ++row) {
    for (const Cell& cell : still_) {
      const int64_t row_bytes = shape().tensors[cell.tensor].row_bytes();
      std::memcpy(out[cell.tensor] + row * row_bytes + cell.offset,
                  at_zero_[cell.tensor].data() + cell.offset, element_bytes_);
    }
  }
}

void StillAxisGenerator::GenerateAt(std::span<const double> positions,
                                    std::span<std::byte* const> out) const {
  rows_->GenerateAt(positions, out);
}

}  // namespace posenc

#include "server/encodings/learned/learned.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/violations.h"
#include "server/encodings/exact/stored_value.h"
#include "server/encodings/learned/resized_grid.h"
#include "server/encodings/row_layout.h"

namespace posenc {
namespace {

TableShape ShapeOf(const LearnedSpec& spec, ElementType type, const StoredTensor& tensor) {
  const auto& resize = spec.resize;
  const int64_t rows = resize ? resize->leading_rows + resize->height * resize->width : tensor.shape[0];
  return {.row_dims = {rows},
          .tensors = {{"table", type, {tensor.shape[1]}}},
          .row_kind = RowKind::kPositions,
          .first_position = -spec.position_offset,
          .positions_begin = -spec.position_offset,
          .positions_end = rows - spec.position_offset};
}

class LearnedGenerator final : public TableGenerator {
 public:
  LearnedGenerator(const LearnedSpec& spec, ElementType type, const StoredTensor& tensor)
      : tensor_(tensor), type_(type), scale_(spec.row_scale), shape_(ShapeOf(spec, type, tensor)) {
    if (spec.resize) {
      kept_rows_ = spec.resize->leading_rows;
      grid_.emplace(*spec.resize, scale_, tensor_);
    } else {
      kept_rows_ = tensor.shape[0];
    }
    const bool copied = type == tensor.element_type && scale_ == 1.0 && !grid_;
    facts_.error_bound = copied ? "exact, the stored numbers" : "correctly rounded (0.5 ulp)";
    facts_.notes = {absl::StrCat("stored in ", tensor.source)};
  }

  const TableShape& shape() const override { return shape_; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override { return sizeof(*this) + (grid_ ? grid_->footprint_bytes() : 0); }

  void Generate(int64_t first_row, int64_t row_count, std::span<std::byte* const> out) const override {
    for (int64_t row = 0; row < row_count; ++row) {
      WriteRow(first_row + row, out[0] + row * shape_.row_bytes());
    }
  }
  void GenerateAt(std::span<const double> positions, std::span<std::byte* const> out) const override {
    for (size_t i = 0; i < positions.size(); ++i) {
      WriteRow(static_cast<int64_t>(positions[i]) - shape_.first_position,
               out[0] + static_cast<int64_t>(i) * shape_.row_bytes());
    }
  }

 private:
  void WriteRow(int64_t row, std::byte* out) const {
    if (row >= kept_rows_) return grid_->WriteRow(row - kept_rows_, type_, out);
    const int64_t width = tensor_.shape[1];
    const auto stored_size = static_cast<int64_t>(ElementSizeBytes(tensor_.element_type));
    const std::byte* const from = tensor_.data.data() + row * width * stored_size;
    if (type_ == tensor_.element_type && scale_ == 1.0) {
      std::memcpy(out, from, width * stored_size);
      return;
    }
    const auto size = static_cast<int64_t>(ElementSizeBytes(type_));
    for (int64_t i = 0; i < width; ++i) {
      const double value = LoadStored(tensor_.element_type, from + i * stored_size);
      StoreElement(out + i * size, ScaledElement(type_, value, scale_), size);
    }
  }

  const StoredTensor tensor_;
  const ElementType type_;
  const double scale_;
  const TableShape shape_;
  int64_t kept_rows_ = 0;  // rows that are stored ones, from the first on
  std::optional<ResizedGrid> grid_;
  TableFacts facts_;
};

absl::Status CheckTensor(const LearnedSpec& spec, const StoredTensor& tensor) {
  Violations bad;
  const std::string shape = absl::StrJoin(tensor.shape, ", ");
  if (tensor.shape.size() != 2) {
    bad.AddText("learned.name", absl::StrCat("names ", tensor.source, " of shape [", shape,
                                             "]; allowed: two dimensions"));
  } else if (spec.resize) {
    const int64_t source = spec.resize->leading_rows + spec.resize->source_height * spec.resize->source_width;
    if (source != tensor.shape[0]) {
      bad.AddText("learned.resize", absl::StrCat("has a source of ", source, " rows, leading ones included; ",
                                                 "allowed: the ", tensor.shape[0], " of ", tensor.source));
    }
  }
  return bad.ToStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TableGenerator>> MakeLearned(const LearnedSpec& spec, ElementType type,
                                                                  const TensorCatalog& catalog) {
  const absl::StatusOr<const StoredTensor*> tensor = catalog.Find(spec.name, "learned.name");
  if (!tensor.ok()) return tensor.status();
  if (absl::Status status = CheckTensor(spec, **tensor); !status.ok()) return status;
  return std::make_shared<LearnedGenerator>(spec, type, **tensor);
}

}  // namespace posenc

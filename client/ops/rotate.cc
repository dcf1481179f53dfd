#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/ops/checks.h"
#include "client/ops/kernels.h"
#include "client/ops/memory.h"
#include "posenc/ops.h"
#include "server/core/names.h"

namespace posenc {
namespace {

// Where a row of a table has its cosines and sines, of n pairs. Offsets and widths count n
// elements.
struct RowForm {
  bool two_tensors;  // cosines in one, sines in the other
  int64_t width;     // of a row of each tensor
  int64_t cos_offset, sin_offset;
  bool sin_is_next = false;  // each sine stands behind its cosine
  int64_t step = 1;          // elements from one pair to the next
};

std::optional<RowForm> FormOf(RopeLayout layout) {
  switch (layout) {
    case RopeLayout::kSplitHalf:
      return RowForm{true, 1, 0, 0};
    case RopeLayout::kSplitDuplicated:
      return RowForm{true, 2, 0, 0};
    case RopeLayout::kSplitRepeated:
      return RowForm{true, 2, 0, 0, false, 2};
    case RopeLayout::kCosSin:
      return RowForm{false, 2, 0, 1};
    case RopeLayout::kCosSinDuplicated:
      return RowForm{false, 4, 0, 2};
    case RopeLayout::kSinCos:
      return RowForm{false, 2, 1, 0};
    case RopeLayout::kSinCosRepeated:
      return RowForm{false, 4, 2, 0, false, 2};
    case RopeLayout::kPairs:
    case RopeLayout::kComplex:
      return RowForm{false, 2, 0, 0, true, 2};
    case RopeLayout::kPairsDuplicated:
      return RowForm{false, 4, 0, 0, true, 2};
    case RopeLayout::kAngles:
    case RopeLayout::kAnglesDuplicated:
    case RopeLayout::kAnglesRepeated:
    case RopeLayout::kFrequencies:
    case RopeLayout::kPeriods:
    case RopeLayout::kSplitAxisDuplicated:
      break;
  }
  return std::nullopt;
}

// The cosines and sines of one row after another, as floats without gaps.
class RowReader {
 public:
  RowReader(const RowForm& form, const ConstNumbers& cos, const ConstNumbers& sin, int64_t pairs,
            bool inverse)
      : form_(form),
        pairs_(pairs),
        inverse_(inverse),
        cos_reader_(cos, form.width * pairs),
        sin_reader_(sin, form.width * pairs),
        cos_(pairs),
        sin_(pairs) {}

  // Points at row `row` until the next call.
  void Read(const OpsKernels& kernels, int64_t row, RotateArgs& args) {
    const int64_t begin = row * form_.width * pairs_;
    const float* const cos = cos_reader_.Read(kernels, begin) + form_.cos_offset * pairs_;
    const float* const sin =
        sin_reader_.Read(kernels, begin) + form_.sin_offset * pairs_ + form_.sin_is_next;
    args.cos = form_.step == 1 ? cos : cos_.data();
    args.sin = form_.step == 1 && !inverse_ ? sin : sin_.data();
    for (int64_t i = 0; args.cos == cos_.data() && i < pairs_; ++i) cos_[i] = cos[i * form_.step];
    const float sign = inverse_ ? -1.0f : 1.0f;
    for (int64_t i = 0; args.sin == sin_.data() && i < pairs_; ++i)
      sin_[i] = sign * sin[i * form_.step];
  }

 private:
  RowForm form_;
  int64_t pairs_;
  bool inverse_;
  FloatReader cos_reader_, sin_reader_;
  std::vector<float> cos_, sin_;
};

int64_t RotaryDim(const RotateParams& params) {
  return params.rotary_dim == 0 ? params.head_dim - params.rotary_begin : params.rotary_dim;
}

absl::Status CheckWindow(const RotateParams& params) {
  absl::Status status = CheckRange("head_dim", params.head_dim, 2, int64_t{1} << 32);
  if (!status.ok()) return status;
  if (status = CheckRange("rotary_begin", params.rotary_begin, 0, params.head_dim - 2);
      !status.ok()) {
    return status;
  }
  if (status =
          CheckRange("rotary_dim", RotaryDim(params), 2, params.head_dim - params.rotary_begin);
      !status.ok()) {
    return status;
  }
  if (RotaryDim(params) % 2 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("rotary_dim is ", RotaryDim(params), "; allowed: even numbers"));
  }
  if (params.pairing != Pairing::kHalfSplit && params.pairing != Pairing::kInterleaved) {
    return absl::InvalidArgumentError("pairing is none; allowed: half-split, interleaved");
  }
  return absl::OkStatus();
}

absl::Status Check(const Numbers& x, const RowForm& form, const ConstNumbers& cos,
                   const ConstNumbers& sin, const RotateParams& params) {
  absl::Status status = CheckNumbers("x", x,
                                     {{"batch", params.batch},
                                      {"seq_len", params.seq_len},
                                      {"heads", params.heads},
                                      {"head_dim", params.head_dim}});
  if (!status.ok()) return status;
  const int64_t width = form.width * RotaryDim(params) / 2;
  const absl::StatusOr<int64_t> rows = CountRows(form.two_tensors ? "cos" : "table", cos, width);
  if (!rows.ok()) return rows.status();
  if (form.two_tensors) {
    if (status = CheckNumbers("sin", sin, {{"rows", *rows}, {"row width", width}}); !status.ok())
      return status;
  }
  return CheckRows({params.batch, params.seq_len, params.first_row, params.rows}, *rows);
}

// Rotates the heads of every token.
void RotateTokens(const Numbers& x, RowReader& reader, const RotateParams& params) {
  const OpsKernels& kernels = CurrentOpsKernels();
  const TokenRows tokens{params.batch, params.seq_len, params.first_row, params.rows};
  RotateArgs args{};
  args.pairs = RotaryDim(params) / 2;
  args.heads = params.heads;
  args.stride = params.heads_first ? params.seq_len * params.head_dim : params.head_dim;
  for (int64_t b = 0; b < params.batch; ++b) {
    for (int64_t s = 0; s < params.seq_len; ++s) {
      reader.Read(kernels, tokens.at(b, s), args);
      const int64_t vector = params.heads_first ? b * params.heads * params.seq_len + s
                                                : (b * params.seq_len + s) * params.heads;
      args.x = AtElement(x, vector * params.head_dim + params.rotary_begin);
      kernels.rotate(x.type(), params.pairing, args);
    }
  }
}

absl::Status RotateBy(const Numbers& x, const RowForm& form, const ConstNumbers& cos,
                      const ConstNumbers& sin, const RotateParams& params) {
  if (absl::Status status = CheckWindow(params); !status.ok()) return status;
  if (absl::Status status = Check(x, form, cos, sin, params); !status.ok()) return status;
  RowReader reader(form, cos, sin, RotaryDim(params) / 2, params.inverse);
  RotateTokens(x, reader, params);
  return absl::OkStatus();
}

absl::Status NotTaken(RopeLayout layout, absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat("layout is ", NameOf(layout), "; allowed: ", allowed));
}

// The numbers of a tensor, complex ones as pairs; its row must have `width` of them.
absl::StatusOr<ConstNumbers> TensorNumbers(const Table& table, std::string_view name,
                                           int64_t width) {
  const TensorInfo* const info = table.Find(name);
  const absl::string_view shown(name.data(), name.size());
  if (info == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("table has no tensor '", shown, "', which tables of this layout have"));
  }
  const bool is_complex = info->element_type == ElementType::kComplex64;
  const ElementType type = is_complex ? ElementType::kF32 : info->element_type;
  int64_t row_width = is_complex ? 2 : 1;
  for (size_t i = 1; i < info->shape.size(); ++i) row_width *= info->shape[i];
  if (row_width != width) {
    return absl::InvalidArgumentError(absl::StrCat("table's tensor '", shown, "' has ", row_width,
                                                   " numbers in a row; allowed: ", width,
                                                   " by the layout and rotary_dim"));
  }
  const std::span<const std::byte> bytes = table.bytes(name);
  return ConstNumbers(type, bytes.data(),
                      static_cast<int64_t>(bytes.size() / ElementSizeBytes(type)));
}

}  // namespace

absl::Status client_v1::Rotate(Numbers x, const Table& table, const RotateParams& params) {
  const std::optional<RowForm> form = FormOf(params.layout);
  if (!form) return NotTaken(params.layout, "layouts of cosines and sines");
  if (absl::Status status = CheckWindow(params); !status.ok()) return status;
  const int64_t width = form->width * RotaryDim(params) / 2;
  const absl::StatusOr<ConstNumbers> first =
      TensorNumbers(table, form->two_tensors ? "cos" : "table", width);
  if (!first.ok()) return first.status();
  const absl::StatusOr<ConstNumbers> second =
      form->two_tensors ? TensorNumbers(table, "sin", width) : first;
  if (!second.ok()) return second.status();
  return RotateBy(x, *form, *first, *second, params);
}

absl::Status client_v1::Rotate(Numbers x, ConstNumbers cos, ConstNumbers sin,
                               const RotateParams& params) {
  const std::optional<RowForm> form = FormOf(params.layout);
  if (!form || !form->two_tensors) {
    return NotTaken(params.layout, "split-half, split-duplicated, split-repeated");
  }
  return RotateBy(x, *form, cos, sin, params);
}

}  // namespace posenc

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/ops/checks.h"
#include "client/ops/kernels.h"
#include "client/ops/memory.h"
#include "posenc/ops.h"
#include "server/core/shortest_decimal.h"

namespace posenc {
namespace {

// Output number `index` of SplitMix64.
uint64_t RandomBits(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The factors of a row of elements: 0 for those that are dropped.
class DropoutFactors {
 public:
  DropoutFactors(const Dropout& dropout, int64_t size)
      : seed_(dropout.seed),
        first_(dropout.first_element),
        least_(static_cast<uint64_t>(std::ceil(dropout.probability * 0x1p53))),
        factor_(dropout.probability < 1 ? static_cast<float>(1 / (1 - dropout.probability)) : 0.0f),
        factors_(size) {}

  const float* Row(int64_t first_element) {
    uint64_t index = first_ + static_cast<uint64_t>(first_element);
    for (float& factor : factors_)
      factor = (RandomBits(seed_, index++) >> 11) < least_ ? 0.0f : factor_;
    return factors_.data();
  }

 private:
  uint64_t seed_, first_, least_;
  float factor_;
  std::vector<float> factors_;
};

bool Drops(const std::optional<Dropout>& dropout) {
  return dropout && dropout->training && dropout->probability > 0;
}

absl::Status Check(const ConstNumbers& x, const ConstNumbers& table, const EncodingParams& params,
                   const Numbers& out) {
  for (const auto& [name, numbers] : {std::pair("x", x), std::pair("out", ConstNumbers(out))}) {
    absl::Status status = CheckNumbers(
        name, numbers,
        {{"batch", params.batch}, {"seq_len", params.seq_len}, {"d_model", params.d_model}});
    if (!status.ok()) return status;
  }
  if (out.type() != x.type()) {
    return absl::InvalidArgumentError(
        absl::StrCat("out has elements of type ", ElementTypeName(out.type()),
                     "; allowed: that of x, ", ElementTypeName(x.type())));
  }
  if (absl::Status status = CheckFinite("x_scale", params.x_scale); !status.ok()) return status;
  if (params.dropout && !(params.dropout->probability >= 0 && params.dropout->probability <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("dropout.probability is ", ShortestDecimal(params.dropout->probability), "; allowed: 0 to 1"));
  }
  const absl::StatusOr<int64_t> rows = CountRows("table", table, params.d_model);
  if (!rows.ok()) return rows.status();
  return CheckRows({params.batch, params.seq_len, params.first_row, params.rows}, *rows);
}

absl::Status CheckBias(const Numbers& scores, const ConstNumbers& bias, const ScoreParams& params) {
  const Dimension batch{"batch", params.batch}, heads{"heads", params.heads},
      queries{"q_len", params.q_len}, keys{"kv_len", params.kv_len};
  absl::Status status = CheckNumbers("scores", scores, {batch, heads, queries, keys});
  if (!status.ok()) return status;
  if (status = CheckFinite("score_scale", params.score_scale); !status.ok()) return status;
  if (params.form == AlibiForm::kSlopes) {
    return absl::InvalidArgumentError("form is slopes; allowed: causal, symmetric, row, key-index");
  }
  if (params.masked || params.query_offset) {
    return absl::InvalidArgumentError(
        "masked and query_offset are AddAlibi's; a bias has them in its numbers");
  }
  if (params.form == AlibiForm::kRow || params.form == AlibiForm::kKeyIndex) {
    return CheckNumbers("bias", bias, {heads, keys});
  }
  const absl::StatusOr<int64_t> one_head = ElementCount({queries, keys});
  if (one_head.ok() && bias.size() == *one_head) return CheckType("bias", bias.type());
  return CheckNumbers("bias", bias, {heads, queries, keys});
}

}  // namespace

absl::Status client_v1::AddEncoding(ConstNumbers x, ConstNumbers table,
                                    const EncodingParams& params, Numbers out) {
  if (absl::Status status = Check(x, table, params, out); !status.ok()) return status;
  const OpsKernels& kernels = CurrentOpsKernels();
  const TokenRows tokens{params.batch, params.seq_len, params.first_row, params.rows};
  FloatReader row(table, params.d_model);
  DropoutFactors factors(params.dropout.value_or(Dropout()),
                         Drops(params.dropout) ? params.d_model : 0);
  for (int64_t b = 0; b < params.batch; ++b) {
    for (int64_t s = 0; s < params.seq_len; ++s) {
      const int64_t element = (b * params.seq_len + s) * params.d_model;
      kernels.add(x.type(), {.x = AtElement(x, element),
                             .to = AtElement(out, element),
                             .size = params.d_model,
                             .addend = row.Read(kernels, tokens.at(b, s) * params.d_model),
                             .factor = Drops(params.dropout) ? factors.Row(element) : nullptr,
                             .x_scale = static_cast<float>(params.x_scale)});
    }
  }
  return absl::OkStatus();
}

absl::Status client_v1::AddEncoding(Numbers x, ConstNumbers table, const EncodingParams& params) {
  return AddEncoding(ConstNumbers(x), table, params, x);
}

absl::Status client_v1::AddBias(Numbers scores, ConstNumbers bias, const ScoreParams& params) {
  if (absl::Status status = CheckBias(scores, bias, params); !status.ok()) return status;
  const OpsKernels& kernels = CurrentOpsKernels();
  const bool by_head = params.form == AlibiForm::kRow || params.form == AlibiForm::kKeyIndex;
  const bool shared = !by_head && bias.size() == params.q_len * params.kv_len;
  FloatReader row(bias, params.kv_len);
  for (int64_t i = 0; i < params.batch * params.heads * params.q_len; ++i) {
    const int64_t head = i / params.q_len % params.heads, query = i % params.q_len;
    const int64_t bias_row = by_head ? head : (shared ? 0 : head * params.q_len) + query;
    void* const scores_row = AtElement(scores, i * params.kv_len);
    kernels.add(scores.type(), {.x = scores_row,
                                .to = scores_row,
                                .size = params.kv_len,
                                .addend = row.Read(kernels, bias_row * params.kv_len),
                                .factor = nullptr,
                                .x_scale = static_cast<float>(params.score_scale)});
  }
  return absl::OkStatus();
}

}  // namespace posenc

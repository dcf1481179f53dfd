#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/ops/checks.h"
#include "client/ops/kernels.h"
#include "client/ops/memory.h"
#include "posenc/ops.h"
#include "server/core/names.h"

namespace posenc {
namespace {

// Distances are exact floats below this.
constexpr int64_t kMaxKeys = int64_t{1} << 24;

int64_t QueryOffset(const ScoreParams& params) {
  return params.query_offset.value_or(params.kv_len - params.q_len);
}

absl::Status Check(const Numbers& scores, const ConstNumbers& slopes, const ScoreParams& params) {
  absl::Status status = CheckNumbers("scores", scores,
                                     {{"batch", params.batch},
                                      {"heads", params.heads},
                                      {"q_len", params.q_len},
                                      {"kv_len", params.kv_len}});
  if (!status.ok()) return status;
  if (status = CheckNumbers("slopes", slopes, {{"heads", params.heads}}); !status.ok())
    return status;
  if (status = CheckFinite("score_scale", params.score_scale); !status.ok()) return status;
  if (status = CheckRange("kv_len", params.kv_len, 0, kMaxKeys); !status.ok()) return status;
  if (status = CheckRange("q_len", params.q_len, 0, kMaxKeys); !status.ok()) return status;
  if (params.form == AlibiForm::kSlopes) {
    return absl::InvalidArgumentError("form is slopes; allowed: causal, symmetric, row, key-index");
  }
  if (params.masked && params.form != AlibiForm::kCausal) {
    return absl::InvalidArgumentError(absl::StrCat(
        "masked is true; allowed: with the form causal, which is ", NameOf(params.form)));
  }
  if (!params.query_offset && params.q_len > params.kv_len) {
    return absl::InvalidArgumentError(absl::StrCat("q_len is ", params.q_len,
                                                   "; allowed: at most kv_len, ", params.kv_len,
                                                   ", or with a query_offset"));
  }
  return CheckRange("query_offset", QueryOffset(params), 0, kMaxKeys - params.q_len);
}

Distance DistanceOf(const ScoreParams& params) {
  switch (params.form) {
    case AlibiForm::kCausal:
      return params.masked ? Distance::kMasked : Distance::kAtMostZero;
    case AlibiForm::kSymmetric:
      return Distance::kNegativeMagnitude;
    case AlibiForm::kSlopes:
    case AlibiForm::kRow:
    case AlibiForm::kKeyIndex:
      break;
  }
  return Distance::kSigned;
}

// The key whose distance from the query is 0.
int64_t Origin(const ScoreParams& params, int64_t query) {
  if (params.form == AlibiForm::kKeyIndex) return 0;
  if (params.form == AlibiForm::kRow) return params.kv_len - 1;
  return QueryOffset(params) + query;
}

}  // namespace

absl::Status client_v1::AddAlibi(Numbers scores, ConstNumbers slopes, const ScoreParams& params) {
  if (absl::Status status = Check(scores, slopes, params); !status.ok()) return status;
  const OpsKernels& kernels = CurrentOpsKernels();
  FloatReader reader(slopes, params.heads);
  const float* const slope_of = reader.Read(kernels, 0);
  for (int64_t i = 0; i < params.batch * params.heads * params.q_len; ++i) {
    const int64_t head = i / params.q_len % params.heads;
    kernels.add_alibi(scores.type(),
                      {.scores = AtElement(scores, i * params.kv_len),
                       .keys = params.kv_len,
                       .scale = static_cast<float>(params.score_scale),
                       .slope = slope_of[head],
                       .origin = static_cast<float>(Origin(params, i % params.q_len)),
                       .distance = DistanceOf(params)});
  }
  return absl::OkStatus();
}

}  // namespace posenc

// What a model does with a table: adds it to embeddings, rotates queries and keys, biases scores.
//
//   posenc::AddEncoding(x, pe->tensor<float>("table"), {.batch = 2, .seq_len = 10, .d_model = 512});
//   posenc::Rotate(q, *rope, {.seq_len = 10, .heads = 32, .head_dim = 128, .first_row = past});
//   posenc::AddAlibi(scores, slopes->tensor<float>("slopes"), {.heads = 12, .q_len = 1, .kv_len = 20});
//
// Tensors are row-major without gaps, of F32, F16 or BF16 elements; a table may have another of these types
// than what it is applied to.
// Accuracy:    each step in F32, rounded after every operation and never fused, then once to the element
//              type. In F32 these are the bits of the same steps in PyTorch.
// Performance: Highway's vectors with run-time dispatch; all instruction sets give the same bits
//              (ForceKernelTarget, POSENC_KERNEL_TARGET). Runs on the calling thread.
// Threads:     calls that write different memory may run at the same time.
// Errors:      InvalidArgument that names the argument, its size and what is allowed; OutOfRange for a row
//              past the end of a table. Nothing is written then.

#ifndef POSENC_OPS_H_
#define POSENC_OPS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posenc/numbers.h"
#include "posenc/results.h"
#include "posenc/specs.h"
#include "posenc/table.h"

namespace posenc {
inline namespace client_v1 {

// Inverted dropout: element i of x, counted from its first, becomes 0 where u(i) < probability and is
// multiplied by 1 / (1 − probability) elsewhere. u(i) = ⌊z / 2^11⌋ / 2^53, z the output number
// first_element + i of SplitMix64 (Steele et al. 2014) seeded with `seed`: it depends on nothing else.
struct Dropout {
  double probability = 0.1;  // 0 … 1
  uint64_t seed = 0;
  bool training = true;        // false: no dropout
  uint64_t first_element = 0;  // goes on where an earlier call ended
};

struct EncodingParams {
  int64_t batch = 1, seq_len = 0, d_model = 0;  // of x
  int64_t first_row = 0;                  // row of the table for the first token of each sequence
  std::span<const int64_t> rows = {};     // instead: one for each token, [batch, seq_len] or [seq_len]
  double x_scale = 1.0;                   // factor on x before adding: sqrt(d_model) in Vaswani et al. 2017
  std::optional<Dropout> dropout = {};
};

// x[b, s, :] = x_scale · x[b, s, :] + table[row, :], then dropout. The table is [rows, d_model].
absl::Status AddEncoding(Numbers x, ConstNumbers table, const EncodingParams& params);
// The same with the result in `out`, of the size and type of x.
absl::Status AddEncoding(ConstNumbers x, ConstNumbers table, const EncodingParams& params, Numbers out);

struct RotateParams {
  int64_t batch = 1, seq_len = 0, heads = 1, head_dim = 0;  // x is [batch, seq_len, heads, head_dim]
  bool heads_first = false;                 // x is [batch, heads, seq_len, head_dim]
  int64_t first_row = 0;                    // row of the table for the first token
  std::span<const int64_t> rows = {};       // instead: one for each token, [batch, seq_len] or [seq_len]
  Pairing pairing = Pairing::kHalfSplit;    // among the channels that rotate
  int64_t rotary_begin = 0;                 // first channel that rotates; the others stay as they are
  int64_t rotary_dim = 0;                   // channels that rotate; 0: all from rotary_begin on
  bool inverse = false;                     // by the negative angle
  // The form of the table. Taken are all that hold cosines and sines, except kSplitAxisDuplicated: each of
  // them belongs to either pairing, for the pair i rotates by the i-th cosine and sine.
  RopeLayout layout = RopeLayout::kSplitHalf;
};

// Rotates each pair (a, b) of q or k to (a·cos − b·sin, b·cos + a·sin), in place.
absl::Status Rotate(Numbers x, const Table& table, const RotateParams& params);
// The same with the two tensors of a split layout: [rows, rotary_dim / 2], or duplicated or repeated.
absl::Status Rotate(Numbers x, ConstNumbers cos, ConstNumbers sin, const RotateParams& params);

struct ScoreParams {
  int64_t batch = 1, heads = 0, q_len = 0, kv_len = 0;  // scores are [batch, heads, q_len, kv_len]
  // Factor on the scores before the bias is added: 1/sqrt(head_dim) where it has not been applied yet.
  double score_scale = 1.0;
  // kCausal, kSymmetric, kRow (distance to the last key) or kKeyIndex; see AlibiSpec.
  AlibiForm form = AlibiForm::kCausal;
  // AddAlibi only: −∞ for keys after the query (kCausal); the first query's position among the keys,
  // absent: kv_len − q_len.
  bool masked = false;
  std::optional<int64_t> query_offset = {};
};

// scores = score_scale · scores − slope · distance, in place, with one slope for each head. The bias belongs
// behind the division by sqrt(head_dim) (Press et al. 2022, section 3), not inside of it. A rank of a
// tensor-parallel model passes its own heads' part of the whole model's slopes.
absl::Status AddAlibi(Numbers scores, ConstNumbers slopes, const ScoreParams& params);

// scores = score_scale · scores + bias, in place. The bias is [heads, q_len, kv_len], or one of
// [q_len, kv_len] for all heads; with the forms kRow and kKeyIndex it is [heads, kv_len].
absl::Status AddBias(Numbers scores, ConstNumbers bias, const ScoreParams& params);

struct MaskParams {
  int64_t batch = 1, seq_len = 0;
  int64_t padding_idx = 1;                // row of masked tokens
  std::optional<int64_t> first_row = {};  // row of the first real token; absent: padding_idx + 1
  std::optional<int64_t> table_rows = {};  // rows that there are; absent: not checked
};

// Returns the table row of every token, for EncodingParams::rows and RotateParams::rows: real tokens (mask
// not 0) are counted from first_row on, wherever the padding is. RoBERTa: padding_idx 1; OPT: the same.
absl::StatusOr<std::vector<int64_t>> PositionsFromMask(std::span<const int64_t> mask, const MaskParams& params);
absl::StatusOr<std::vector<int64_t>> PositionsFromMask(std::span<const uint8_t> mask, const MaskParams& params);

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_OPS_H_

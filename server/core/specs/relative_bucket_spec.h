// The parameters of relative position buckets. A value; spec.h says what holds for all specs.

#ifndef POSENC_SERVER_CORE_SPECS_RELATIVE_BUCKET_SPEC_H_
#define POSENC_SERVER_CORE_SPECS_RELATIVE_BUCKET_SPEC_H_

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

// T5 (Raffel et al. 2020), and MPNet with bidirectional: Δ = key − query; half of a sign's buckets hold
// one distance each, the others grow by a constant ratio up to max_distance.
struct T5Buckets {
  static constexpr absl::string_view kName = "t5";

  int64_t buckets = 32;
  int64_t max_distance = 128;
  bool bidirectional = true;  // false: keys after the query share bucket 0

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "buckets", .help = "Number of buckets (relative_attention_num_buckets)", .low = 2,
                .high = limits::kMaxWidth}, self.buckets);
    visit(Field{.name = "max_distance", .help = "From here on all distances share the last bucket",
                .low = 1, .high = limits::kMaxBiasLen}, self.max_distance);
    visit(Field{.name = "bidirectional", .help = "Buckets of their own for keys after the query"},
          self.bidirectional);
  }
};

// DeBERTa (He et al. 2021): Δ = query − key; |Δ| < mid = buckets / 2 is Δ itself, further ones
// sign(Δ) · (⌈ln(|Δ| / mid) / ln((max_distance − 1) / mid) · (mid − 1)⌉ + mid).
struct DebertaBuckets {
  static constexpr absl::string_view kName = "deberta";

  int64_t buckets = 256;
  int64_t max_distance = 512;

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "buckets", .help = "Number of buckets (position_buckets)", .low = 4,
                .high = limits::kMaxWidth}, self.buckets);
    visit(Field{.name = "max_distance", .help = "Largest distance (max_relative_positions)", .low = 4,
                .high = limits::kMaxBiasLen}, self.max_distance);
  }
};

// "buckets" [max_len, max_len] in I32; or, with a stored weight, "bias" [heads, max_len, max_len]. A weight is
// [buckets, heads] for T5, [2·buckets, heads] for DeBERTa, whose bucket r is row r + buckets (or the nearest).
struct RelativeBucketSpec {
  static constexpr absl::string_view kName = "relative_bucket";

  std::variant<T5Buckets, DebertaBuckets> rule = T5Buckets();
  int64_t max_len = 512;  // queries and keys
  std::string weight = "";           // name of a stored tensor; empty: the buckets themselves
  std::string weight_sha256 = "";    // of its bytes, 64 hex digits; filled in by the server
  double scale = 1.0;                // factor on the weight (x-transformers)

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "rule", .help = "How distances become buckets"}, self.rule);
    visit(Field{.name = "max_len", .help = "Queries and keys", .low = 1, .high = limits::kMaxBiasLen},
          self.max_len);
    visit(Field{.name = "weight", .help = "Name of a stored tensor [buckets, heads]: gives the bias"},
          self.weight);
    visit(Field{.name = "weight_sha256", .help = "Digest that the weight must have"}, self.weight_sha256);
    visit(Field{.name = "scale", .help = "Factor on the weight", .low = limits::kMinRowScale,
                .high = limits::kMaxRowScale}, self.scale);
  }
};

absl::Status NormalizeFamily(RelativeBucketSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_RELATIVE_BUCKET_SPEC_H_

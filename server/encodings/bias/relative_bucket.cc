#include "server/encodings/bias/relative_bucket.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/violations.h"
#include "server/encodings/bias/toeplitz.h"
#include "server/encodings/exact/log_ratio.h"
#include "server/encodings/exact/stored_value.h"

namespace posenc {
namespace {

// Buckets by query − key, from 1 − max_len to max_len − 1.
std::vector<int32_t> BucketsOf(const RelativeBucketSpec& spec) {
  std::vector<int32_t> buckets;
  buckets.reserve(2 * spec.max_len - 1);
  for (int64_t distance = 1 - spec.max_len; distance < spec.max_len; ++distance) {
    const int64_t bucket = std::visit([&](const auto& rule) { return BucketOf(rule, distance); }, spec.rule);
    buckets.push_back(static_cast<int32_t>(bucket));
  }
  return buckets;
}

// The rows that a weight has, and which one belongs to bucket 0: signed buckets have theirs in the middle.
struct WeightRows {
  int64_t first;
  int64_t count;
};
WeightRows WeightRowsOf(const std::variant<T5Buckets, DebertaBuckets>& rule) {
  if (const auto* t5 = std::get_if<T5Buckets>(&rule)) return {0, t5->buckets};
  const int64_t buckets = std::get<DebertaBuckets>(rule).buckets;
  return {buckets, 2 * buckets};
}

class RelativeBucketGenerator final : public TableGenerator {
 public:
  // `weights` has the elements' bits by head, then bucket; empty for the map.
  RelativeBucketGenerator(const RelativeBucketSpec& spec, TableShape shape, std::vector<uint64_t> weights)
      : shape_(std::move(shape)),
        max_len_(spec.max_len),
        buckets_(BucketsOf(spec)),
        heads_(weights.empty() ? 1 : shape_.row_dims.front()),
        weight_row_of_bucket_0_(WeightRowsOf(spec.rule).first),
        weights_(std::move(weights)) {
    facts_.error_bound = weights_.empty() ? "exact" : "correctly rounded (0.5 ulp)";
  }

  const TableShape& shape() const override { return shape_; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override {
    return sizeof(*this) + buckets_.capacity() * sizeof(int32_t) + weights_.capacity() * sizeof(uint64_t);
  }
  void Generate(int64_t first_row, int64_t row_count, std::span<std::byte* const> out) const override {
    const int64_t per_head = static_cast<int64_t>(weights_.size()) / heads_;
    const ElementType type = shape_.tensors.front().element_type;
    ForEachHead(max_len_, first_row, row_count, shape_.row_bytes(), out[0],
                [&](int64_t head, int64_t query, int64_t count, std::byte* to) {
                  WriteToeplitz(max_len_, query, count, type, to, [&](int64_t delta) -> uint64_t {
                    const int32_t bucket = buckets_[max_len_ - 1 - delta];
                    if (weights_.empty()) return static_cast<uint32_t>(bucket);
                    // DeBERTa's buckets go on past the last row, which stands for all of them.
                    const int64_t row = std::clamp<int64_t>(bucket + weight_row_of_bucket_0_, 0, per_head - 1);
                    return weights_[head * per_head + row];
                  });
                });
  }
  // Writes nothing: the rows are queries of a map, they have no position.
  void GenerateAt(std::span<const double>, std::span<std::byte* const>) const override {}

 private:
  const TableShape shape_;
  const int64_t max_len_;
  const std::vector<int32_t> buckets_;
  const int64_t heads_;
  const int64_t weight_row_of_bucket_0_;
  const std::vector<uint64_t> weights_;
  TableFacts facts_;
};

// The elements of a weight [buckets, heads], by head.
std::vector<uint64_t> ElementsOf(const StoredTensor& weight, double scale, ElementType type) {
  const int64_t buckets = weight.shape[0], heads = weight.shape[1];
  const auto size = static_cast<int64_t>(ElementSizeBytes(weight.element_type));
  std::vector<uint64_t> elements(buckets * heads);
  for (int64_t i = 0; i < buckets * heads; ++i) {
    const double value = LoadStored(weight.element_type, weight.data.data() + i * size);
    elements[(i % heads) * buckets + i / heads] = ScaledElement(type, value, scale);
  }
  return elements;
}

}  // namespace

int64_t BucketOf(const T5Buckets& rule, int64_t distance) {
  const int64_t per_sign = rule.bidirectional ? rule.buckets / 2 : rule.buckets;
  const int64_t first = rule.bidirectional && distance < 0 ? per_sign : 0;
  const int64_t r = rule.bidirectional ? std::abs(distance) : std::max<int64_t>(distance, 0);
  const int64_t single = per_sign / 2;
  if (r < single) return first + r;
  if (r >= rule.max_distance) return first + per_sign - 1;
  return first + single + LogRatio(r, single, rule.max_distance, per_sign - single).floor;
}

int64_t BucketOf(const DebertaBuckets& rule, int64_t distance) {
  const int64_t mid = rule.buckets / 2, r = std::abs(distance);
  if (r <= mid) return distance;
  const int64_t bucket = LogRatio(r, mid, rule.max_distance - 1, mid - 1).ceiling() + mid;
  return distance < 0 ? -bucket : bucket;
}

absl::StatusOr<std::shared_ptr<const TableGenerator>> MakeRelativeBucket(const RelativeBucketSpec& spec,
                                                                         ElementType type,
                                                                         const TensorCatalog& catalog) {
  if (spec.weight.empty()) {
    TableShape shape{.row_dims = {spec.max_len},
                     .tensors = {{"buckets", type, {spec.max_len}}},
                     .row_kind = RowKind::kCells};
    return std::make_shared<RelativeBucketGenerator>(spec, std::move(shape), std::vector<uint64_t>());
  }
  const absl::StatusOr<const StoredTensor*> weight = catalog.Find(spec.weight, "relative_bucket.weight");
  if (!weight.ok()) return weight.status();
  const int64_t rows = WeightRowsOf(spec.rule).count;
  const std::vector<int64_t>& dims = (*weight)->shape;
  if (dims.size() != 2 || dims[0] != rows || dims[1] < 1) {
    Violations bad;
    bad.AddText("relative_bucket.weight",
                absl::StrCat("names ", (*weight)->source, " of shape [", absl::StrJoin(dims, ", "), "]; allowed: [",
                             rows, ", heads], one row for each bucket"));
    return bad.ToStatus();
  }
  TableShape shape{.row_dims = {dims[1], spec.max_len},
                   .tensors = {{"bias", type, {spec.max_len}}},
                   .row_kind = RowKind::kHeadQueries};
  return std::make_shared<RelativeBucketGenerator>(spec, std::move(shape), ElementsOf(**weight, spec.scale, type));
}

}  // namespace posenc

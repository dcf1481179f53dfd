#include "server/models/readers/relative_config.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

constexpr absl::string_view kWeightNote =
    "the bias is a learned weight for each bucket and head: the spec's weight names it when the server was "
    "given it, usually ";

int64_t TakeOr(const ModelScope& scope, absl::string_view field, absl::string_view key, int64_t value,
               TableDraft& draft, Reading& reading) {
  const auto found = scope.object.Integer(key, reading.bad);
  return draft.Take(field, found.value_or(scope.Default(value, key)));
}

int64_t TakeMaxLen(const ModelScope& scope, TableDraft& draft, Reading& reading) {
  return draft.Take("relative_bucket.max_len", scope.MaxLenOr(RelativeBucketSpec().max_len, reading.bad));
}

void ReadT5Stack(const ModelScope& scope, std::string name, bool bidirectional, Reading& reading) {
  TableDraft draft(name, Pairing::kNone, absl::StrCat("the ", name));
  if (name == "main") draft.table().applies_to.clear();
  RelativeBucketSpec spec;
  T5Buckets rule;
  rule.buckets = TakeOr(scope, "relative_bucket.t5.buckets", "relative_attention_num_buckets", rule.buckets,
                        draft, reading);
  rule.max_distance = TakeOr(scope, "relative_bucket.t5.max_distance", "relative_attention_max_distance",
                             rule.max_distance, draft, reading);
  rule.bidirectional = bidirectional;
  spec.rule = rule;
  spec.max_len = TakeMaxLen(scope, draft, reading);
  std::move(draft).Finish(spec, reading);
}

}  // namespace

void ReadT5Buckets(const ModelScope& scope, Reading& reading) {
  if (!scope.family->decoder) {
    ReadT5Stack(scope, "main", true, reading);
    reading.Note(absl::StrCat(kWeightNote, "encoder.relative_attention_bias.weight"));
    return;
  }
  ReadT5Stack(scope, "encoder", true, reading);
  if (!reading.bad.empty()) return;
  ReadT5Stack(scope, "decoder", false, reading);
  reading.Note(absl::StrCat(kWeightNote,
                            "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight and the "
                            "same of the decoder; attention to the encoder has no bias"));
}

void ReadDebertaBuckets(const ModelScope& scope, Reading& reading) {
  if (!scope.object.IsTruthy("relative_attention")) {
    reading.Note(absl::StrCat(scope.object.PathOf("relative_attention"),
                              " is not true: the model has learned positions, "
                              "embeddings.position_embeddings.weight, and no buckets"));
    return;
  }
  TableDraft draft("main", Pairing::kNone);
  const auto buckets = scope.object.Integer("position_buckets", reading.bad);
  if (!buckets || buckets->value <= 0) {
    reading.Note("without position_buckets every distance is its own; the map of buckets is not used");
    return;
  }
  RelativeBucketSpec spec;
  DebertaBuckets rule;
  rule.buckets = draft.Take("relative_bucket.deberta.buckets", *buckets);
  spec.max_len = TakeMaxLen(scope, draft, reading);
  const auto longest = scope.object.Integer("max_relative_positions", reading.bad);
  // A value below 1 stands for the longest input.
  const bool written = longest && longest->value >= 1;
  rule.max_distance =
      draft.Take("relative_bucket.deberta.max_distance",
                 written ? *longest : scope.MaxLenOr(RelativeBucketSpec().max_len, reading.bad));
  spec.rule = rule;
  reading.Note("the rows of encoder.rel_embeddings.weight are looked up by bucket; they are learned");
  std::move(draft).Finish(spec, reading);
}

}  // namespace posenc

#include "server/models/readers/rope_indexer.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/shortest_decimal.h"

namespace posenc {

void FinishIndexer(const RopeDraft& rope) {
  const IndexerRule& rule = rope.family().indexer;
  if (rule.head_dim_key.empty()) return;
  const ModelScope& scope = rope.scope;
  RopeDraft indexer = {scope, rope.layer, rope.reading, TableDraft("indexer", Pairing::kNone), rope.spec};
  indexer.indexer = true;
  TableDraft& draft = indexer.draft;
  draft.table().applies_to = "the indexer of sparse attention";
  draft.table().layers = rope.layer.layers;
  const auto flag =
      rule.interleaved_key.empty() ? std::nullopt : scope.object.Flag(rule.interleaved_key, indexer.bad());
  draft.Take(flag ? Found<Pairing>{flag->value ? Pairing::kInterleaved : Pairing::kHalfSplit, flag->path,
                                   flag->source, false}
                  : Found<Pairing>{rule.pairing, "pairing", absl::StrCat("indexer of ", rope.family().class_name),
                                   true});
  const auto width = scope.object.Integer(rule.head_dim_key, indexer.bad());
  indexer.spec.head_dim =
      draft.Take("rope.head_dim", width.value_or(scope.Default(rule.head_dim, rule.head_dim_key)));
  draft.Rule("rope.rotary_dim", absl::StrCat(indexer.spec.rotary_dim), "the attention's rotated slice");
  draft.Rule("rope.base", ShortestDecimal(indexer.spec.base), "the attention's base");
  FinishRope(std::move(indexer));
}

}  // namespace posenc

#include "server/rpc/handlers/evict_tables.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/table_key.h"
#include "server/core/violations.h"
#include "server/rpc/requests/request_decoding.h"
#include "server/rpc/slices/slice_frame.h"

namespace posenc {
namespace {

absl::StatusOr<std::vector<TableKey>> DecodeKeys(const v1::EvictTablesRequest& request) {
  Violations bad;
  if (request.all() == !request.table_keys().empty()) {
    bad.AddText("table_keys", request.all() ? "are given beside all; allowed: one of the two"
                                            : "is empty; allowed: at least one key, or all");
  }
  std::vector<TableKey> keys;
  for (int i = 0; i < request.table_keys_size(); ++i) {
    const absl::StatusOr<TableKey> key = TableKey::FromHex(request.table_keys(i));
    if (!key.ok()) {
      bad.AddText(absl::StrCat("table_keys[", i, "]"), std::string(key.status().message()));
    } else {
      keys.push_back(*key);
    }
  }
  if (!bad.empty()) return bad.ToStatus();
  return keys;
}

absl::StatusOr<EvictionResult> EvictKeys(TableStore& store, const std::vector<TableKey>& keys) {
  EvictionResult sum;
  for (const TableKey& key : keys) {
    const absl::StatusOr<EvictionResult> result = store.Evict(key);
    if (absl::IsNotFound(result.status())) {
      return absl::NotFoundError(absl::StrCat("no table with key ", key.ToHex(), " is resident or pinned"));
    }
    if (!result.ok()) return result.status();
    sum.tables += result->tables;
    sum.blocks += result->blocks;
    sum.bytes += result->bytes;
  }
  return sum;
}

}  // namespace

void EvictTables(const ContextPtr& context, const v1::EvictTablesRequest& request,
                 const std::shared_ptr<UnaryCall>& call) {
  const absl::StatusOr<std::vector<TableKey>> keys = DecodeKeys(request);
  if (!keys.ok()) return call->Respond(keys.status());
  const absl::StatusOr<EvictionResult> result =
      request.all() ? context->store->EvictAll() : EvictKeys(*context->store, *keys);
  if (!result.ok()) return call->Respond(result.status());
  v1::EvictTablesResponse response;
  response.set_tables(result->tables);
  response.set_blocks(result->blocks);
  response.set_bytes(result->bytes);
  call->Respond(FrameMessage(response));
}

}  // namespace posenc

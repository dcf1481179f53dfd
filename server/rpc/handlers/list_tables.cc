#include "server/rpc/handlers/list_tables.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/spec_codec.h"
#include "server/core/table_key.h"
#include "server/rpc/requests/request_decoding.h"
#include "server/rpc/slices/slice_frame.h"

namespace posenc {
namespace {

constexpr int kDefaultPageSize = 100;
constexpr int kMaxPageSize = 1000;

struct Page {
  int size = kDefaultPageSize;
  std::optional<TableKey> after;
};

absl::StatusOr<Page> DecodePage(const v1::ListTablesRequest& request) {
  Page page;
  if (request.page_size() < 0 || request.page_size() > kMaxPageSize) {
    return FieldError(absl::StatusCode::kInvalidArgument, "page_size",
                      absl::StrCat("is ", request.page_size(), "; allowed: 0 to ", kMaxPageSize,
                                   ", 0 for ", kDefaultPageSize));
  }
  if (request.page_size() > 0) page.size = request.page_size();
  if (request.page_token().empty()) return page;
  const absl::StatusOr<TableKey> after = TableKey::FromHex(request.page_token());
  if (!after.ok()) {
    return FieldError(absl::StatusCode::kInvalidArgument, "page_token",
                      "is not a token of this server; allowed: next_page_token of the page before");
  }
  page.after = *after;
  return page;
}

void EncodeStatus(const TableResidency& residency, v1::TableStatus* message) {
  const Table& table = *residency.table;
  message->set_table_key(table.key().ToHex());
  *message->mutable_spec() = EncodeSpec(table.spec());
  message->set_size_bytes(table.shape().total_bytes());
  message->set_resident_bytes(residency.resident_bytes);
  message->set_resident_blocks(residency.resident_blocks);
  message->set_total_blocks(table.block_count());
  message->set_pinned(residency.pinned);
}

}  // namespace

void ListTables(const ContextPtr& context, const v1::ListTablesRequest& request,
                const std::shared_ptr<UnaryCall>& call) {
  const absl::StatusOr<Page> page = DecodePage(request);
  if (!page.ok()) return call->Respond(page.status());
  v1::ListTablesResponse response;
  for (const TableResidency& residency : context->store->ListTables()) {
    if (page->after && residency.table->key() <= *page->after) continue;
    if (response.tables_size() == page->size) {
      response.set_next_page_token(response.tables().rbegin()->table_key());
      break;
    }
    EncodeStatus(residency, response.add_tables());
  }
  call->Respond(FrameMessage(response));
}

}  // namespace posenc

#include "posenc/client.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"

namespace posenc {
namespace {

// A million tables, as no server's memory holds: one that names new pages for ever ends here.
constexpr int kMaxPages = 10000;

}  // namespace

absl::StatusOr<TableDescription> Client::Describe(const TableRequest& table, const CallOptions& call) {
  return connection_->Describe({.spec = table.spec(), .call = call});
}

absl::StatusOr<Table> Client::Get(const TableRequest& table, const CallOptions& call) {
  return Slice(table, Selection(), call);
}

absl::StatusOr<Table> Client::Slice(const TableRequest& table, const Selection& selection,
                                    const CallOptions& call) {
  // First without what a call needs: copying the request would double the time of an answer at hand.
  if (std::optional<Table> known = connection_->Recall(table.spec(), selection)) return *std::move(known);
  return connection_->Fetch({.spec = table.spec(), .selection = selection, .call = call});
}

absl::StatusOr<Table> Client::Gather(const TableRequest& table, std::vector<int64_t> positions,
                                     const CallOptions& call) {
  // An empty list selects every row, which is not what an empty batch means.
  if (positions.empty()) {
    Violations bad;
    bad.AddText("selection.positions", "is empty; allowed: at least one position");
    return bad.ToStatus();
  }
  Selection selection;
  selection.positions = std::move(positions);
  return Slice(table, selection, call);
}

absl::Status Client::Stream(const TableRequest& table, const Selection& selection,
                            ChunkCallback on_chunk, const CallOptions& call) {
  return connection_->Stream({.spec = table.spec(),
                              .selection = selection,
                              .on_chunk = std::move(on_chunk),
                              .call = call});
}

absl::Status Client::ReadInto(const TableRequest& table, const Selection& selection,
                              std::vector<std::span<std::byte>> destinations, const CallOptions& call) {
  return connection_->Stream({.spec = table.spec(),
                              .selection = selection,
                              .destinations = [&](const SliceInfo&) { return destinations; },
                              .call = call});
}

absl::StatusOr<ModelTables> Client::ResolveModel(ModelQuery query, const CallOptions& call) {
  return connection_->ResolveModel({.query = std::move(query), .call = call});
}

absl::StatusOr<std::vector<TableStatus>> Client::ListTables(const CallOptions& call) {
  std::vector<TableStatus> tables;
  ListTablesParams params{.call = call};
  const absl::Time begin = absl::Now();
  for (int pages = 0; pages < kMaxPages; ++pages) {
    // All pages together have the caller's time.
    if (call.timeout) params.call.timeout = *call.timeout - (absl::Now() - begin);
    absl::StatusOr<TablePage> page = connection_->ListTables(params);
    if (!page.ok()) return page.status();
    tables.insert(tables.end(), page->tables.begin(), page->tables.end());
    if (!page->next_page_token.empty() && page->next_page_token == params.page_token) {
      return absl::DataLossError("the server repeats a page of tables");
    }
    params.page_token = page->next_page_token;
    if (params.page_token.empty()) return tables;
  }
  return absl::DataLossError("the server names pages of tables without an end");
}

absl::StatusOr<EvictedTables> Client::Evict(std::vector<std::string> keys, const CallOptions& call) {
  return connection_->Evict({.keys = std::move(keys), .call = call});
}

absl::StatusOr<EvictedTables> Client::EvictAll(const CallOptions& call) {
  return connection_->Evict({.all = true, .call = call});
}

absl::StatusOr<ServerStatus> Client::ServerInfo(const CallOptions& call) {
  return connection_->ServerInfo(call);
}

absl::StatusOr<HealthStatus> Client::Health(const CallOptions& call) {
  return connection_->Health(call);
}

}  // namespace posenc

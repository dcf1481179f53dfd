#include "client/local/local_connection.h"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/local/local_slice.h"
#include "posenc/connect.h"
#include "posenc/table_builder.h"
#include "server/core/limits.h"
#include "server/core/table_key.h"
#include "server/encodings/table_notes.h"

namespace posenc {
namespace {

absl::Status NeedsServer(absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat(what, " is a server's; the in-process connection keeps no tables"));
}

// As many rows as a server with default settings puts into one block.
int64_t RowsPerBlock(const TableShape& shape) {
  int64_t rows = 1;
  const auto block = static_cast<int64_t>(limits::kDefaultBlockBytes);
  while (rows * 2 * shape.row_bytes() <= block) rows *= 2;
  return rows;
}

// Computes the whole table, piece by piece, for the SHA-256 of each tensor. Errors: FailedPrecondition for a
// table that the service would not digest either.
absl::Status AddDigests(const LocalSlice& slice, std::vector<TensorInfo>& tensors) {
  if (slice.info().size_bytes > limits::kMaxDigestBytes) {
    return absl::FailedPreconditionError(absl::StrCat("the table has ", slice.info().size_bytes,
                                                      " bytes, but with_content_digest digests at most ",
                                                      limits::kMaxDigestBytes, "; describe it without"));
  }
  using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
  std::vector<Context> contexts;
  for (size_t i = 0; i < tensors.size(); ++i) {
    contexts.emplace_back(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    EVP_DigestInit_ex(contexts.back().get(), EVP_sha256(), nullptr);
  }
  const StreamParams params{.on_chunk = [&](const Chunk& chunk) {
    for (size_t i = 0; i < contexts.size(); ++i) {
      EVP_DigestUpdate(contexts[i].get(), chunk.tensors[i].data(), chunk.tensors[i].size());
    }
    return absl::OkStatus();
  }};
  if (absl::Status status = slice.Stream(params); !status.ok()) return status;
  for (size_t i = 0; i < contexts.size(); ++i) {
    std::string digest(32, '\0');
    EVP_DigestFinal_ex(contexts[i].get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
    tensors[i].content_sha256 = absl::BytesToHexString(digest);
  }
  return absl::OkStatus();
}

TableDescription DescriptionOf(const LocalSlice& slice) {
  const TableShape& shape = slice.generator().shape();
  const TableFacts& facts = slice.generator().facts();
  return {.key = slice.info().key,
          .spec = slice.spec(),
          .canonical_text = CanonicalText(slice.spec()),
          .tensors = slice.info().tensors,
          .size_bytes = slice.info().size_bytes,
          .rows = shape.rows(),
          .rows_per_block = RowsPerBlock(shape),
          .inverse_frequencies = facts.inverse_frequencies,
          .slopes = facts.slopes,
          .magnitude = facts.magnitude,
          .softmax_scale = facts.softmax_scale,
          .error_bound = facts.error_bound,
          .positions_begin = shape.positions_begin,
          .positions_end = shape.positions_end,
          .notes = TableNotes(slice.spec(), slice.generator()),
          .axis_of_pair = facts.axis_of_pair,
          .position_axes = shape.position_axes,
          .real_positions = shape.real_positions};
}

class LocalConnection : public Connection {
 public:
  LocalConnection(std::shared_ptr<const TensorCatalog> catalog, uint64_t max_table_bytes)
      : catalog_(std::move(catalog)), max_table_bytes_(max_table_bytes) {}

  absl::StatusOr<TableDescription> Describe(const DescribeParams& params) override {
    const absl::StatusOr<LocalSlice> slice = Slice(params.spec, Selection());
    if (!slice.ok()) return slice.status();
    TableDescription description = DescriptionOf(*slice);
    if (!params.with_content_digest) return description;
    absl::Status status = AddDigests(*slice, description.tensors);
    if (!status.ok()) return status;
    return description;
  }

  absl::StatusOr<Table> Fetch(const FetchParams& params) override {
    const absl::StatusOr<LocalSlice> slice = Slice(params.spec, params.selection);
    if (!slice.ok()) return slice.status();
    absl::StatusOr<TableBuilder> builder =
        TableBuilder::Allocate(slice->info().key, slice->info().tensors, max_table_bytes_);
    if (!builder.ok()) return builder.status();
    slice->Generate(0, slice->info().row_count, builder->data());
    return (*std::move(builder)).Build();
  }

  absl::Status Stream(const StreamParams& params) override {
    const absl::StatusOr<LocalSlice> slice = Slice(params.spec, params.selection);
    return slice.ok() ? slice->Stream(params) : slice.status();
  }

  absl::StatusOr<ModelTables> ResolveModel(const ResolveModelParams& params) override {
    return posenc::ResolveModel(params.query);
  }

  absl::Status Warm(const WarmParams&) override { return NeedsServer("warming tables"); }
  absl::StatusOr<TablePage> ListTables(const ListTablesParams&) override {
    return NeedsServer("a list of tables");
  }
  absl::StatusOr<EvictedTables> Evict(const EvictParams&) override {
    return NeedsServer("evicting tables");
  }
  absl::StatusOr<ServerStatus> ServerInfo(const CallOptions&) override {
    return ServerStatus{.version = ClientVersion(), .kernel_target = KernelTarget(), .ready = true};
  }
  absl::StatusOr<HealthStatus> Health(const CallOptions&) override { return HealthStatus::kServing; }

 private:
  absl::StatusOr<LocalSlice> Slice(const TableSpec& spec, const Selection& selection) const {
    return LocalSlice::Make(spec, selection, catalog_ == nullptr ? EmptyCatalog() : *catalog_);
  }

  const std::shared_ptr<const TensorCatalog> catalog_;
  const uint64_t max_table_bytes_;
};

}  // namespace

std::shared_ptr<Connection> MakeBoundedLocalConnection(std::shared_ptr<const TensorCatalog> catalog,
                                                       uint64_t max_table_bytes) {
  return std::make_shared<LocalConnection>(std::move(catalog), max_table_bytes);
}

std::shared_ptr<Connection> client_v1::MakeLocalConnection(
    std::shared_ptr<const TensorCatalog> catalog) {
  return MakeBoundedLocalConnection(std::move(catalog), ConnectionOptions().max_table_bytes);
}

std::string client_v1::ClientVersion() { return POSENC_VERSION; }

}  // namespace posenc

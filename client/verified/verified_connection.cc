#include "client/verified/verified_connection.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/local/estimate.h"
#include "posenc/table_builder.h"

namespace posenc {
namespace {

// From here on a link is measured; a smaller answer is over before anything is known.
constexpr uint64_t kMinMeasuredBytes = uint64_t{4} << 20;
// A thread more for as much: making one costs as much as computing a tenth of a MiB.
constexpr uint64_t kBytesPerThread = uint64_t{4} << 20;
// Of the table, to learn how quickly it is computed.
constexpr int64_t kSampleBytes = int64_t{256} << 10;

bool IsWhole(const Selection& selection) {
  return !selection.rows && !selection.columns && !selection.heads && !selection.keys &&
         selection.positions.empty() && selection.real_positions.empty() &&
         selection.axis_positions.empty();
}

int64_t RowBytes(const LocalSlice& slice) {
  int64_t bytes = 0;
  for (size_t i = 0; i < slice.info().tensors.size(); ++i) bytes += slice.row_bytes(i);
  return bytes;
}

// In double: a virtual table may exceed what an integer holds.
double BytesBehind(const LocalSlice& slice, int64_t skip_rows) {
  return static_cast<double>(slice.info().row_count - skip_rows) * static_cast<double>(RowBytes(slice));
}

}  // namespace

VouchedConnection::VouchedConnection(std::shared_ptr<Connection> service, const VerifiedOptions& options,
                                     std::function<absl::Time()> now)
    : ForwardingConnection(std::move(service)), options_(options), now_(std::move(now)) {}

std::optional<LocalSlice> VouchedConnection::Computable(const TableSpec& spec,
                                                        const Selection& selection) const {
  if (options_.source == TableSource::kStream) return std::nullopt;
  // First: a generator costs more than a row from the service.
  if (EstimateBytes(spec, selection) < static_cast<double>(options_.min_bytes)) return std::nullopt;
  const TensorCatalog& catalog = options_.catalog == nullptr ? EmptyCatalog() : *options_.catalog;
  absl::StatusOr<LocalSlice> slice = LocalSlice::Make(spec, selection, catalog);
  // What is wrong with the request the service says as well, or it knows better.
  if (!slice.ok() || slice->info().size_bytes == 0) return std::nullopt;
  return *std::move(slice);
}

int VouchedConnection::ThreadsFor(uint64_t bytes) const {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int most = options_.threads > 0 ? options_.threads : cores;
  return static_cast<int>(std::clamp<uint64_t>(bytes / kBytesPerThread, 1, most));
}

bool VouchedConnection::ComputesFaster(const LocalSlice& slice, int64_t skip_rows,
                                       double link_bytes_per_second) const {
  const int64_t rows = std::clamp<int64_t>(kSampleBytes / RowBytes(slice), 1,
                                           slice.info().row_count - skip_rows);
  std::vector<std::vector<std::byte>> memory;
  for (size_t i = 0; i < slice.info().tensors.size(); ++i) memory.emplace_back(rows * slice.row_bytes(i));
  const std::vector<std::span<std::byte>> destinations(memory.begin(), memory.end());
  const absl::Time begin = now_();
  slice.Generate(skip_rows, rows, destinations);
  const double rate = RateOf(rows * RowBytes(slice), now_() - begin);
  return rate * ThreadsFor(slice.info().size_bytes) > link_bytes_per_second;
}

VouchedConnection::Way VouchedConnection::Choose(const LocalSlice& slice, int64_t skip_rows) const {
  const double bytes = BytesBehind(slice, skip_rows);
  if (bytes < static_cast<double>(options_.min_bytes)) return Way::kReceive;
  if (options_.source == TableSource::kVerifiedLocal) return Way::kCompute;
  const std::optional<LinkRate::Measured> link = link_.Get();
  const bool is_fresh = link && now_() - link->when < options_.measure_every;
  if (!is_fresh && bytes >= static_cast<double>(kMinMeasuredBytes)) return Way::kMeasure;
  if (!link) return Way::kReceive;
  return ComputesFaster(slice, skip_rows, link->bytes_per_second) ? Way::kCompute : Way::kReceive;
}

absl::Status VouchedConnection::Measure(const LocalSlice& slice, const StreamParams& params,
                                        VerifiedAnswer& answer) {
  LinkMeter meter;
  bool is_measured = false;
  return answer.Receive([&](const Chunk& chunk) {
    if (is_measured) return false;
    meter.Add(chunk.row_count * RowBytes(slice), now_());
    is_measured = meter.done();
    if (!is_measured) return false;
    link_.Set(meter.rate(), now_());
    return ComputesFaster(slice, params.skip_rows, meter.rate());
  });
}

absl::Status VouchedConnection::Complete(Way way, const LocalSlice& slice, const StreamParams& params,
                                         const std::function<void(int64_t)>& on_rows,
                                         VerifiedAnswer& answer) {
  absl::Status status;
  if (way == Way::kMeasure) status = Measure(slice, params, answer);
  const bool compute = status.ok() && !answer.is_complete();
  if (compute) status = answer.Compute(ThreadsFor(slice.info().size_bytes), on_rows);
  Count(slice, answer, compute);
  return status;
}

absl::StatusOr<Table> VouchedConnection::Fetch(const FetchParams& params) {
  const std::optional<LocalSlice> slice = Computable(params.spec, params.selection);
  const bool is_mapped = slice && options_.source == TableSource::kAutomatic &&
                         IsWhole(params.selection) && inner_->MapsTables(params.call);
  const Way way = slice && !is_mapped ? Choose(*slice, 0) : Way::kReceive;
  if (way == Way::kReceive) {
    CountReceived();
    return inner_->Fetch(params);
  }
  std::optional<TableBuilder> builder;
  StreamParams stream{.spec = params.spec, .selection = params.selection, .call = params.call};
  stream.destinations =
      [&](const SliceInfo& info) -> absl::StatusOr<std::vector<std::span<std::byte>>> {
    auto allocated = TableBuilder::Allocate(info.key, info.tensors, options_.max_table_bytes);
    if (!allocated.ok()) return allocated.status();
    builder = *std::move(allocated);
    return builder->data();
  };
  const uint64_t row_bytes = RowBytes(*slice);
  VerifiedAnswer answer(*inner_, *slice, stream);
  const absl::Status status = Complete(way, *slice, stream, [&](int64_t rows_done) {
    if (params.on_progress) params.on_progress(rows_done * row_bytes, slice->info().size_bytes);
  }, answer);
  if (answer.is_other_table()) return inner_->Fetch(params);
  if (!status.ok()) return status;
  return (*std::move(builder)).Build();
}

absl::Status VouchedConnection::Stream(const StreamParams& params) {
  if (params.checksums_only) return inner_->Stream(params);
  const std::optional<LocalSlice> slice = Computable(params.spec, params.selection);
  // Skipping more than there is: the service says so.
  const bool has_rows = slice && params.skip_rows >= 0 && params.skip_rows < slice->info().row_count;
  const Way way = has_rows ? Choose(*slice, params.skip_rows) : Way::kReceive;
  if (way == Way::kReceive) {
    CountReceived();
    return inner_->Stream(params);
  }
  VerifiedAnswer answer(*inner_, *slice, params);
  absl::Status status = Complete(way, *slice, params, [](int64_t) {}, answer);
  // Chunks that the caller has seen cannot be taken back.
  if (answer.is_other_table() && !answer.has_begun()) return inner_->Stream(params);
  return status;
}

void VouchedConnection::Count(const LocalSlice& slice, const VerifiedAnswer& answer, bool computed) {
  const std::lock_guard lock(mutex_);
  if (answer.is_other_table()) ++stats_.other_tables;
  ++(computed && !answer.is_other_table() ? stats_.verified_answers : stats_.received_answers);
  stats_.verified_bytes += answer.verified_rows() * RowBytes(slice);
  stats_.mismatched_chunks += answer.mismatched_chunks();
  stats_.mismatched_rows += answer.mismatched_rows();
  if (!answer.last_mismatch().empty()) stats_.last_mismatch = answer.last_mismatch();
}

void VouchedConnection::CountReceived() {
  const std::lock_guard lock(mutex_);
  ++stats_.received_answers;
}

VerifiedStats VouchedConnection::stats() const {
  const std::lock_guard lock(mutex_);
  VerifiedStats stats = stats_;
  if (const auto link = link_.Get()) stats.link_bytes_per_second = link->bytes_per_second;
  return stats;
}

std::shared_ptr<VerifiedConnection> client_v1::MakeVerifiedLocalConnection(
    std::shared_ptr<Connection> remote, const VerifiedOptions& options) {
  return std::make_shared<VouchedConnection>(std::move(remote), options, absl::Now);
}

}  // namespace posenc

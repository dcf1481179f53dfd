#include "server/app/admin/server_collector.h"

#include <string>
#include <utility>

#include "server/core/names.h"
#include "server/telemetry/metric_family.h"

namespace posenc {
namespace {

using Families = std::vector<prometheus::MetricFamily>;
using Family = MetricFamilyBuilder;

void AddCache(const StoreStats& stats, Families& out) {
  out.push_back(Family::Counter("posenc_cache_requests_total",
                                "Blocks asked for: resident, generated for this request, or already being "
                                "generated for another.")
                    .Add(stats.hits, {{"result", "hit"}})
                    .Add(stats.misses, {{"result", "miss"}})
                    .Add(stats.coalesced, {{"result", "coalesced"}})
                    .Build());
  out.push_back(Family::Gauge("posenc_cache_size_bytes",
                              "Memory charged to the budget, by state; pinned is no further memory, but what is "
                              "set aside for pinned tables.")
                    .Add(stats.resident_bytes, {{"state", "resident"}})
                    .Add(stats.pinned_bytes, {{"state", "pinned"}})
                    .Add(stats.building_bytes, {{"state", "building"}})
                    .Add(stats.buffer_bytes, {{"state", "buffers"}})
                    .Add(stats.orphaned_bytes, {{"state", "orphaned"}})
                    .Add(stats.generator_bytes, {{"state", "generators"}})
                    .Add(stats.spare_bytes, {{"state", "spare"}})
                    .Build());
  out.push_back(Family::Gauge("posenc_cache_limit_bytes", "The budget.").Add(stats.limit_bytes).Build());
  out.push_back(Family::Gauge("posenc_cache_peak_bytes", "Most memory that was ever charged.")
                    .Add(stats.peak_bytes)
                    .Build());
  out.push_back(Family::Counter("posenc_cache_evictions_total", "Blocks evicted.")
                    .Add(stats.capacity_evictions, {{"reason", "capacity"}})
                    .Add(stats.admin_evictions, {{"reason", "admin"}})
                    .Build());
  out.push_back(Family::Counter("posenc_cache_evicted_bytes_total", "Bytes of the blocks evicted.")
                    .Add(stats.evicted_bytes)
                    .Build());
}

// The family at an index of the variant, by its name.
template <size_t... kIndex>
std::array<std::string, sizeof...(kIndex)> FamilyNames(std::index_sequence<kIndex...>) {
  return {std::string(FamilyName(FamilySpec(std::in_place_index<kIndex>)))...};
}

void AddGeneration(const StoreStats& stats, Families& out) {
  constexpr size_t kFamilies = std::variant_size_v<FamilySpec>;
  static_assert(std::tuple_size_v<decltype(stats.generated_by_family)> == kFamilies);
  const auto names = FamilyNames(std::make_index_sequence<kFamilies>());
  Family blocks = Family::Counter("posenc_blocks_generated_total", "Blocks generated, by family.");
  for (size_t i = 0; i < kFamilies; ++i) blocks.Add(stats.generated_by_family[i], {{"family", names[i]}});
  out.push_back(blocks.Build());
  out.push_back(Family::Counter("posenc_generated_bytes_total", "Bytes generated.")
                    .Add(stats.generated_bytes)
                    .Build());
  out.push_back(Family::Histogram("posenc_block_generation_seconds", "Time to generate one block.")
                    .Add(GenerationHistogram::kBounds, stats.generation.counts, stats.generation.sum_seconds)
                    .Build());
  out.push_back(Family::Counter("posenc_cancelled_builds_total",
                                "Blocks that were not generated because nobody waited for them any more.")
                    .Add(stats.cancelled_builds)
                    .Build());
}

void AddAdmission(const StoreStats& stats, Families& out) {
  out.push_back(Family::Gauge("posenc_waiting_requests", "Requests that wait for memory.")
                    .Add(stats.waiting_requests)
                    .Build());
  out.push_back(Family::Counter("posenc_admission_rejected_total",
                                "Requests refused: could never fit, or did not fit by their deadline.")
                    .Add(stats.rejected_too_large, {{"reason", "too_large"}})
                    .Add(stats.rejected_timeout, {{"reason", "timeout"}})
                    .Build());
}

void AddLifecycle(const Lifecycle& lifecycle, Families& out) {
  out.push_back(Family::Gauge("posenc_warm_tables", "Tables of the warm list, by state.")
                    .Add(lifecycle.pending_tables(), {{"state", "pending"}})
                    .Add(lifecycle.warmed_tables(), {{"state", "ready"}})
                    .Add(lifecycle.failed_tables(), {{"state", "failed"}})
                    .Build());
  out.push_back(Family::Gauge("posenc_ready", "1 when the server takes calls.")
                    .Add(lifecycle.ready() ? 1 : 0)
                    .Build());
  out.push_back(Family::Gauge("posenc_draining", "1 when the server is going down.")
                    .Add(lifecycle.draining() ? 1 : 0)
                    .Build());
}

void AddProgram(const ProgramInfo& info, const Logger& log, Families& out) {
  out.push_back(Family::Gauge("posenc_build_info", "What this program was built from and with; always 1.")
                    .Add(1, {{"version", info.version},
                             {"revision", info.revision},
                             {"compiler", info.compiler},
                             {"grpc_version", info.grpc_version},
                             {"protobuf_version", info.protobuf_version},
                             {"kernel_target", info.kernel_target}})
                    .Build());
  Family lines = Family::Counter("posenc_log_messages_total", "Lines written to the log, by level.");
  for (LogLevel level : kAllLogLevels) {
    lines.Add(log.count(level), {{"level", std::string(LogLevelName(level))}});
  }
  out.push_back(lines.Build());
}

}  // namespace

ServerCollector::ServerCollector(std::function<StoreStats()> stats, const Lifecycle& lifecycle,
                                 const Logger& log, ProgramInfo info)
    : stats_(std::move(stats)), lifecycle_(lifecycle), log_(log), info_(std::move(info)) {}

Families ServerCollector::Collect() const {
  const StoreStats stats = stats_();
  Families families;
  AddCache(stats, families);
  AddGeneration(stats, families);
  AddAdmission(stats, families);
  AddLifecycle(lifecycle_, families);
  AddProgram(info_, log_, families);
  return families;
}

}  // namespace posenc

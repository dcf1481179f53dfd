#include "server/rpc/handlers/get_server_info.h"

#include <google/protobuf/stubs/common.h>
#include <grpcpp/version_info.h>

#include "absl/time/clock.h"
#include "server/encodings/table_generator.h"
#include "server/rpc/slices/slice_frame.h"

namespace posenc {
namespace {

void EncodeCache(const StoreStats& stats, v1::CacheStatus* cache) {
  cache->set_limit_bytes(stats.limit_bytes);
  cache->set_resident_bytes(stats.resident_bytes);
  cache->set_pinned_bytes(stats.pinned_bytes);
  cache->set_building_bytes(stats.building_bytes);
  cache->set_orphaned_bytes(stats.orphaned_bytes);
  cache->set_waiting_requests(static_cast<uint64_t>(stats.waiting_requests));
  cache->set_hits(stats.hits);
  cache->set_misses(stats.misses);
  cache->set_coalesced(stats.coalesced);
  cache->set_blocks_generated(stats.generated_blocks);
  cache->set_blocks_evicted(stats.capacity_evictions + stats.admin_evictions);
}

}  // namespace

void GetServerInfo(const ContextPtr& context, const v1::GetServerInfoRequest& /*request*/,
                   const std::shared_ptr<UnaryCall>& call) {
  v1::GetServerInfoResponse response;
  response.set_version(context->build.version);
  response.set_revision(context->build.revision);
  response.set_compiler(context->build.compiler);
  response.set_grpc_version(GRPC_CPP_VERSION_STRING);
  response.set_protobuf_version(
      google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION));
  response.set_kernel_target(KernelTarget());
  response.set_uptime_seconds(absl::ToDoubleSeconds(absl::Now() - context->start_time));
  response.set_max_unary_bytes(context->max_unary_bytes);
  response.set_block_bytes(context->block_bytes);
  EncodeCache(context->store->stats(), response.mutable_cache());
  response.set_ready(context->ready());
  response.set_draining(context->draining());
  call->Respond(FrameMessage(response));
}

}  // namespace posenc

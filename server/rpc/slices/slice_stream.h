// The producer of StreamSlice: fetches chunks one ahead of the writing and hands them over in order.
//
// Failure: a fetch ends once, with a chunk or an error, whichever comes first; what an exception leaves running
//         is ignored when it ends. So a chunk is never being made twice.
// States: at most one chunk is being fetched, at most one is ready, at most one is being written. Fetching
//         begins when nothing is ready and nothing is being fetched; a ready chunk is written when nothing
//         else is.
// Threads: OnWritten comes on gRPC's threads, chunks on those or on workers. One mutex guards the state;
//         the store and the call are called without it.
// Lifetime: held by the call until the RPC is over, and by the fetch that is under way.

#ifndef POSENC_SERVER_RPC_SLICES_SLICE_STREAM_H_
#define POSENC_SERVER_RPC_SLICES_SLICE_STREAM_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/service_context.h"
#include "server/rpc/slices/chunk_cursor.h"
#include "server/rpc/slices/slice_rows.h"

namespace posenc {

// Whether chunks carry their tensors' data, or the checksum of them alone. The rows are fetched either way.
enum class ChunkData : uint8_t { kSent, kLeftOut };

class SliceStream final : public StreamProducer, public std::enable_shared_from_this<SliceStream> {
 public:
  // `header` is the serialised SliceHeader, for the first chunk.
  SliceStream(ContextPtr context, TablePtr table, ChunkCursor cursor, std::string header,
              ChunkData data, std::shared_ptr<StreamCall> call);

  // Fetches the first chunk; all else follows. Called once.
  void Start();

  void OnWritten() override;

 private:
  struct Chunk {
    Frame frame;
    bool last = false;
  };

  void FetchNext();
  // `fetch` is the number of the fetch that this is the end of.
  void OnRows(uint64_t fetch, const PlanPtr& plan, absl::StatusOr<RowData> rows);
  void OnRowsEnd(uint64_t fetch, absl::Status status);
  bool EndFetch(uint64_t fetch);
  void GenerateAhead(const BlockRange& ahead);
  void Complete(const SlicePlan& plan, RowData rows);
  Chunk MakeChunk(const SlicePlan& plan, RowData rows);
  void OnChunk(Chunk chunk);
  void OnError(absl::Status status);
  void Write(Chunk chunk);

  const ContextPtr context_;
  const TablePtr table_;
  const std::shared_ptr<StreamCall> call_;
  const ChunkData data_;
  // Used by the fetch under way only, and there is one at a time:
  ChunkCursor cursor_;
  std::string header_;
  std::mutex mutex_;
  // Guarded by mutex_:
  uint64_t last_fetch_ = 0;
  uint64_t ended_fetch_ = 0;
  bool fetching_ = false;
  bool writing_ = false;
  std::optional<Chunk> ready_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SLICES_SLICE_STREAM_H_

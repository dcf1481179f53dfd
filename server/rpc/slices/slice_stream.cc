#include "server/rpc/slices/slice_stream.h"

#include <utility>

#include "posenc/v1/positional_encoding_service.pb.h"
#include "server/core/crc32c.h"
#include "server/rpc/calls/exceptions.h"
#include "server/rpc/handlers/table_messages.h"

namespace posenc {
namespace {

// A checksum of up to this many bytes, about 0.1 ms, is computed where the rows arrive; a longer one on a
// worker, so that gRPC's threads are not held up.
constexpr uint64_t kMaxInlineCrcBytes = uint64_t{1} << 20;

// Blocks that are generated while earlier ones travel: so many cores work for one stream, and make several
// times as much as one connection takes.
constexpr int64_t kBlocksAhead = 4;

uint32_t ChecksumOf(const RowData& rows) {
  if (rows.whole_block != nullptr) return rows.whole_block->crc32c();
  uint32_t crc = 0;
  for (const std::vector<SharedBytes>& tensor : rows.tensors) {
    for (const SharedBytes& data : tensor) crc = ExtendCrc32c(crc, data.bytes);
  }
  return crc;
}

}  // namespace

SliceStream::SliceStream(ContextPtr context, TablePtr table, ChunkCursor cursor, std::string header,
                         ChunkData data, std::shared_ptr<StreamCall> call)
    : context_(std::move(context)),
      table_(std::move(table)),
      call_(std::move(call)),
      data_(data),
      cursor_(std::move(cursor)),
      header_(std::move(header)) {}

void SliceStream::Start() {
  call_->SetProducer(shared_from_this());
  fetching_ = true;
  FetchNext();
}

void SliceStream::FetchNext() {
  uint64_t fetch = 0;
  {
    const std::lock_guard lock(mutex_);
    fetch = ++last_fetch_;
  }
  BlockRange ahead;
  CatchExceptions(
      [&] {
        const auto plan = std::make_shared<const SlicePlan>(cursor_.Peek());
        ahead = cursor_.BlocksAhead(kBlocksAhead);
        FetchRows(*context_->store, table_, plan, call_,
                  [self = shared_from_this(), fetch, plan](absl::StatusOr<RowData> rows) {
                    self->OnRows(fetch, plan, std::move(rows));
                  });
      },
      [&](absl::Status failure) { OnRowsEnd(fetch, std::move(failure)); });
  // Behind the fetch, which is first in line and may have moved the cursor on.
  if (ahead.begin < ahead.end && !call_->cancelled()) GenerateAhead(ahead);
}

// Nobody waits for this: without memory it is left undone.
void SliceStream::GenerateAhead(const BlockRange& ahead) {
  CatchExceptions([&] { context_->store->GenerateAhead(table_, ahead.begin, ahead.end - 1); },
                  [](const absl::Status&) {});
}

// True for the first who says that this fetch has ended: then the cursor is its own.
bool SliceStream::EndFetch(uint64_t fetch) {
  const std::lock_guard lock(mutex_);
  if (fetch != last_fetch_ || fetch == ended_fetch_) return false;
  ended_fetch_ = fetch;
  return true;
}

void SliceStream::OnRowsEnd(uint64_t fetch, absl::Status status) {
  if (EndFetch(fetch)) OnError(std::move(status));
}

void SliceStream::OnRows(uint64_t fetch, const PlanPtr& plan, absl::StatusOr<RowData> rows) {
  if (!EndFetch(fetch)) return;
  if (!rows.ok()) return OnError(rows.status());
  CatchExceptions(
      [&] {
        if (plan->total_bytes(table_->shape()) <= kMaxInlineCrcBytes) {
          return Complete(*plan, *std::move(rows));
        }
        context_->store->Run([self = shared_from_this(), plan, rows = *rows] {
          CatchExceptions([&] { self->Complete(*plan, rows); },
                          [&](absl::Status failure) { self->OnError(std::move(failure)); });
        });
      },
      [&](absl::Status failure) { OnError(std::move(failure)); });
}

void SliceStream::Complete(const SlicePlan& plan, RowData rows) {
  OnChunk(MakeChunk(plan, std::move(rows)));
}

SliceStream::Chunk SliceStream::MakeChunk(const SlicePlan& plan, RowData rows) {
  v1::StreamSliceResponse fields;
  if (!header_.empty()) fields.mutable_header()->ParseFromString(header_);
  fields.set_first_row(cursor_.next_row());
  fields.set_row_count(plan.row_count());
  fields.set_crc32c(ChecksumOf(rows));
  if (data_ == ChunkData::kLeftOut) {
    for (std::vector<SharedBytes>& tensor : rows.tensors) tensor.clear();
  }
  Chunk chunk;
  chunk.frame = FrameTensors(fields.SerializeAsString(),
                             TensorPartsOf(table_->shape(), plan, std::move(rows)));
  // Only now: a chunk that failed is made again.
  header_.clear();
  cursor_.Advance(plan.row_count());
  chunk.last = cursor_.done();
  return chunk;
}

void SliceStream::OnChunk(Chunk chunk) {
  const bool last = chunk.last;
  {
    const std::lock_guard lock(mutex_);
    fetching_ = false;
    if (writing_) {
      ready_ = std::move(chunk);
      return;
    }
    writing_ = true;
    fetching_ = !last;
  }
  Write(std::move(chunk));
  if (!last) FetchNext();
}

void SliceStream::OnWritten() {
  std::optional<Chunk> chunk;
  bool fetch = false;
  {
    const std::lock_guard lock(mutex_);
    chunk = std::exchange(ready_, std::nullopt);
    writing_ = chunk.has_value();
    fetch = !fetching_ && !(chunk && chunk->last);
    fetching_ = fetching_ || fetch;
  }
  if (chunk) Write(*std::move(chunk));
  if (fetch) FetchNext();
}

void SliceStream::OnError(absl::Status status) {
  {
    const std::lock_guard lock(mutex_);
    fetching_ = false;
    // Want of memory while a chunk goes out: OnWritten tries once more, when this stream holds nothing.
    if (writing_ && absl::IsResourceExhausted(status) && !call_->cancelled()) return;
  }
  call_->Finish(std::move(status));
}

void SliceStream::Write(Chunk chunk) {
  CatchExceptions(
      [&] {
        if (chunk.last) return call_->WriteLast(std::move(chunk.frame));
        call_->Write(std::move(chunk.frame));
      },
      [&](absl::Status failure) { call_->Finish(std::move(failure)); });
}

}  // namespace posenc

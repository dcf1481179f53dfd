#include "client/verified/verified_answer.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/remote/destinations.h"

namespace posenc {
namespace {

// Ends a stream whose other rows are not wanted.
absl::Status Enough() { return absl::CancelledError("enough rows"); }

// Joins runs of rows that follow each other, so that one stream fetches them.
std::vector<RowChecksum> Joined(const std::vector<RowChecksum>& pieces) {
  std::vector<RowChecksum> joined;
  for (const RowChecksum& piece : pieces) {
    if (!joined.empty() && joined.back().first_row + joined.back().row_count == piece.first_row) {
      joined.back().row_count += piece.row_count;
    } else {
      joined.push_back(piece);
    }
  }
  return joined;
}

}  // namespace

StreamParams VerifiedAnswer::Part(int64_t row) const {
  StreamParams part{.spec = params_.spec, .selection = params_.selection, .skip_rows = row, .call = params_.call};
  // All parts together have the caller's time.
  if (part.call.timeout) *part.call.timeout -= absl::Now() - begin_;
  return part;
}

absl::Status VerifiedAnswer::Open(const SliceInfo& slice) {
  if (slice != slice_.info()) {
    is_other_table_ = true;
    return absl::AbortedError(absl::StrCat("the service has table ", slice.key, ", this process ",
                                           slice_.info().key));
  }
  if (std::exchange(is_open_, true)) return absl::OkStatus();
  auto memory = AskForDestinations(params_, slice_.info());
  if (!memory.ok()) return memory.status();
  memory_ = *std::move(memory);
  return absl::OkStatus();
}

absl::Status VerifiedAnswer::Deliver(const Chunk& chunk) {
  next_row_ = chunk.first_row + chunk.row_count;
  return params_.on_chunk ? params_.on_chunk(chunk) : absl::OkStatus();
}

absl::Status VerifiedAnswer::Receive(const std::function<bool(const Chunk& chunk)>& leave) {
  bool left = false;
  StreamParams part = Part(next_row_);
  if (params_.destinations) {
    part.destinations = [&](const SliceInfo& slice) -> absl::StatusOr<std::vector<std::span<std::byte>>> {
      if (absl::Status status = Open(slice); !status.ok()) return status;
      return memory_;
    };
  }
  part.on_chunk = [&](const Chunk& chunk) {
    if (absl::Status status = Open(chunk.slice); !status.ok()) return status;
    if (absl::Status status = Deliver(chunk); !status.ok()) return status;
    left = !is_complete() && leave(chunk);
    return left ? Enough() : absl::OkStatus();
  };
  absl::Status status = service_.Stream(part);
  return left ? absl::OkStatus() : status;
}

absl::Status VerifiedAnswer::Compute(int threads, const std::function<void(int64_t)>& on_rows) {
  // Without memory of the caller's there is none for rows that are computed at the same time.
  const bool at_once = params_.destinations && !params_.on_chunk;
  return at_once ? ComputeAtOnce(threads, on_rows) : ComputeInOrder(on_rows);
}

absl::Status VerifiedAnswer::ComputeAtOnce(int threads, const std::function<void(int64_t)>& on_rows) {
  std::optional<RowVerifier> verifier;
  StreamParams part = Part(next_row_);
  part.checksums_only = true;
  part.on_chunk = [&](const Chunk& chunk) {
    if (absl::Status status = Open(chunk.slice); !status.ok()) return status;
    if (!verifier) verifier.emplace(slice_, memory_, threads);
    verifier->Add({chunk.first_row, chunk.row_count, chunk.crc32c});
    next_row_ = chunk.first_row + chunk.row_count;
    verified_rows_ += chunk.row_count;
    on_rows(next_row_);
    return absl::OkStatus();
  };
  absl::Status status = service_.Stream(part);
  const std::vector<RowChecksum> mismatches = verifier ? verifier->Finish() : std::vector<RowChecksum>();
  if (!status.ok()) return status;
  for (const RowChecksum& rows : mismatches) CountMismatch(rows);
  for (const RowChecksum& rows : Joined(mismatches)) {
    status = Mend(rows, RowsWithin(slice_, memory_, rows.first_row, rows.row_count));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status VerifiedAnswer::ComputeInOrder(const std::function<void(int64_t)>& on_rows) {
  std::vector<std::byte> scratch;
  StreamParams part = Part(next_row_);
  part.checksums_only = true;
  part.on_chunk = [&](const Chunk& chunk) {
    if (absl::Status status = Open(chunk.slice); !status.ok()) return status;
    if (absl::Status status = ComputeChunk(chunk, scratch); !status.ok()) return status;
    on_rows(next_row_);
    return absl::OkStatus();
  };
  return service_.Stream(part);
}

absl::Status VerifiedAnswer::ComputeChunk(const Chunk& checksum, std::vector<std::byte>& scratch) {
  const RowChecksum rows{checksum.first_row, checksum.row_count, checksum.crc32c};
  std::vector<std::span<std::byte>> memory;
  if (memory_.empty()) {
    size_t used = 0;
    std::vector<size_t> sizes;
    for (size_t i = 0; i < slice_.info().tensors.size(); ++i) {
      sizes.push_back(rows.row_count * slice_.row_bytes(i));
      used += sizes.back();
    }
    if (scratch.size() < used) scratch.resize(used);
    for (std::span<std::byte> rest(scratch); size_t size : sizes) {
      memory.push_back(rest.first(size));
      rest = rest.subspan(size);
    }
  } else {
    memory = RowsWithin(slice_, memory_, rows.first_row, rows.row_count);
  }
  slice_.Generate(rows.first_row, rows.row_count, memory);
  verified_rows_ += rows.row_count;
  if (slice_.ChecksumOfRows(rows.row_count, memory) != rows.crc32c) {
    CountMismatch(rows);
    if (absl::Status status = Mend(rows, memory); !status.ok()) return status;
  }
  const std::vector<std::span<const std::byte>> tensors(memory.begin(), memory.end());
  return Deliver({.slice = slice_.info(),
                  .first_row = rows.first_row,
                  .row_count = rows.row_count,
                  .tensors = tensors});
}

absl::Status VerifiedAnswer::Mend(const RowChecksum& rows,
                                  std::span<const std::span<std::byte>> destinations) {
  int64_t done = 0;
  StreamParams part = Part(rows.first_row);
  part.on_chunk = [&](const Chunk& chunk) {
    if (absl::Status status = Open(chunk.slice); !status.ok()) return status;
    const int64_t count = std::min(chunk.row_count, rows.row_count - done);
    for (size_t i = 0; i < destinations.size(); ++i) {
      const int64_t row_bytes = slice_.row_bytes(i);
      std::memcpy(destinations[i].data() + done * row_bytes, chunk.tensors[i].data(), count * row_bytes);
    }
    done += count;
    return done == rows.row_count ? Enough() : absl::OkStatus();
  };
  absl::Status status = service_.Stream(part);
  if (done == rows.row_count) return absl::OkStatus();
  if (!status.ok()) return status;
  return absl::DataLossError(absl::StrCat("the service sent ", done, " of ", rows.row_count, " rows"));
}

void VerifiedAnswer::CountMismatch(const RowChecksum& rows) {
  ++mismatched_chunks_;
  mismatched_rows_ += rows.row_count;
  verified_rows_ -= rows.row_count;
  last_mismatch_ = absl::StrCat("table ", slice_.info().key, ", rows ", rows.first_row, " to ",
                                rows.first_row + rows.row_count, ": not the service's crc32c ",
                                absl::Hex(rows.crc32c, absl::kZeroPad8));
}

}  // namespace posenc

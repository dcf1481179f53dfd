#include "server/rpc/handlers/describe_table.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/spec_codec.h"
#include "server/core/limits.h"
#include "server/core/selection.h"
#include "server/encodings/table_notes.h"
#include "server/rpc/calls/exceptions.h"
#include "server/rpc/handlers/table_messages.h"
#include "server/rpc/slices/slice_frame.h"
#include "server/tables/jobs/table_warmer.h"

namespace posenc {
namespace {

void EncodeFacts(const Table& table, v1::DescribeTableResponse& response) {
  const TableFacts& facts = table.generator().facts();
  response.mutable_inverse_frequencies()->Add(facts.inverse_frequencies.begin(),
                                              facts.inverse_frequencies.end());
  response.mutable_axis_of_pair()->Add(facts.axis_of_pair.begin(), facts.axis_of_pair.end());
  response.mutable_slopes()->Add(facts.slopes.begin(), facts.slopes.end());
  response.set_magnitude(facts.magnitude);
  response.set_softmax_scale(facts.softmax_scale);
  response.set_error_bound(facts.error_bound);
  for (const std::string& note : TableNotes(table.spec(), table.generator())) response.add_notes(note);
}

absl::StatusOr<v1::DescribeTableResponse> Describe(const Table& table) {
  const TableShape& shape = table.shape();
  const absl::StatusOr<SlicePlan> whole = ResolveSelection(Selection(), shape);
  if (!whole.ok()) return whole.status();
  v1::DescribeTableResponse response;
  response.set_table_key(table.key().ToHex());
  *response.mutable_spec() = EncodeSpec(table.spec());
  response.set_canonical_text(CanonicalText(table.spec()));
  for (const TensorShape& tensor : shape.tensors) {
    EncodeTensorInfo(*whole, tensor, response.add_tensors());
  }
  response.set_size_bytes(shape.total_bytes());
  response.set_rows(table.rows());
  response.set_rows_per_block(table.rows_per_block());
  response.set_positions_begin(shape.positions_begin);
  response.set_positions_end(shape.positions_end);
  response.set_position_axes(static_cast<int32_t>(shape.position_axes));
  response.set_real_positions(shape.real_positions);
  EncodeFacts(table, response);
  return response;
}

using Digests = std::vector<Sha256Digest>;

void AddDigests(const Digests& digests, v1::DescribeTableResponse& response) {
  for (size_t t = 0; t < digests.size(); ++t) {
    response.mutable_tensors(static_cast<int>(t))
        ->set_content_sha256(digests[t].data(), digests[t].size());
  }
}

absl::Status CheckDigestible(const Table& table) {
  const uint64_t bytes = table.shape().total_bytes();
  if (bytes <= limits::kMaxDigestBytes) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the table has ", bytes, bytes == kUnboundedBytes ? " bytes or more" : " bytes",
                   ", but with_content_digest digests at most ", limits::kMaxDigestBytes,
                   "; describe it without, or compare the checksums of the parts that StreamSlice returns"));
}

void Answer(const ContextPtr& context, const TablePtr& table, bool with_digest,
            const std::shared_ptr<UnaryCall>& call) {
  absl::StatusOr<v1::DescribeTableResponse> response = Describe(*table);
  if (!response.ok()) return call->Respond(response.status());
  if (!with_digest) return call->Respond(FrameMessage(*response));
  absl::Status digestible = CheckDigestible(*table);
  if (!digestible.ok()) return call->Respond(std::move(digestible));
  auto on_digests = [response = *std::move(response), call](absl::StatusOr<Digests> digests) mutable {
    CatchExceptions(
        [&] {
          if (!digests.ok()) return call->Respond(digests.status());
          AddDigests(*digests, response);
          call->Respond(FrameMessage(response));
        },
        [&](absl::Status failure) { call->Respond(std::move(failure)); });
  };
  // The deadline is that of the work, not of one wait for memory: a long table takes longer than that.
  call->StartRequest([&] {
    return DigestTensors(*context->store, call->peer(), table, call->work_deadline(), std::move(on_digests));
  });
}

}  // namespace

void DescribeTable(const ContextPtr& context, const v1::DescribeTableRequest& request,
                   const std::shared_ptr<UnaryCall>& call) {
  absl::StatusOr<TableSpec> spec = DecodeNormalizedSpec(request.spec(), *context->catalog);
  if (!spec.ok()) return call->Respond(spec.status());
  const bool with_digest = request.with_content_digest();
  auto on_table = [context, with_digest, call](absl::StatusOr<TablePtr> table) {
    CatchExceptions(
        [&] {
          if (!table.ok()) return call->Respond(table.status());
          Answer(context, *table, with_digest, call);
        },
        [&](absl::Status failure) { call->Respond(std::move(failure)); });
  };
  call->StartRequest([&] { return context->store->Open(call->peer(), *spec, std::move(on_table)); });
}

}  // namespace posenc

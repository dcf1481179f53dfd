// A request for a part of a table: its spec, which is looked up in the memo before it is decoded, and the
// other fields.
//
// Wire:    a message that begins with its `spec` is cut behind it. When the spec's bytes are known and no
//          second spec follows, only the rest is parsed; protobuf parses field by field, so the two parts mean
//          what the whole means. Every other message, and every spec that is new, is parsed as a whole.
// Threads: pure functions, but for the memo.

#ifndef POSENC_SERVER_RPC_REQUESTS_SPEC_REQUEST_H_
#define POSENC_SERVER_RPC_REQUESTS_SPEC_REQUEST_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "posenc/v1/spec.pb.h"
#include "server/core/tensor_catalog.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/calls/wire.h"
#include "server/rpc/requests/spec_memo.h"
#include "server/tables/store/table_store.h"

namespace posenc {

template <typename Message>
struct SpecRequest {
  Message fields;                     // all of them, but for `spec`, which may be missing here
  absl::StatusOr<KeyedSpecPtr> spec;  // or what is wrong with it
};

// The bytes of a message that begins with a spec, and of the fields behind it. For any other message
// `spec` is empty and `rest` is all.
struct SpecParts {
  absl::string_view spec;
  absl::string_view rest;
};
SpecParts SplitLeadingSpec(absl::string_view message);

// Errors: as DecodeNormalizedSpec.
absl::StatusOr<KeyedSpecPtr> DecodeKeyedSpec(const v1::TableSpec& spec, const TensorCatalog& catalog);

// Parses the bytes of a request.
// Errors: InvalidArgument for bytes that are no Message; what is wrong with its spec is in `request.spec`.
template <typename Message>
absl::Status ParseSpecRequest(absl::string_view bytes, const TensorCatalog& catalog, SpecMemo& memo,
                              SpecRequest<Message>& request) {
  const SpecParts parts = SplitLeadingSpec(bytes);
  const auto rest_has_no_spec = [&](Message& rest) {
    return ParseRequest(parts.rest, rest).ok() && !rest.has_spec();
  };
  if (KeyedSpecPtr known = memo.Find(parts.spec); known != nullptr && rest_has_no_spec(request.fields)) {
    request.spec = std::move(known);
    return absl::OkStatus();
  }
  if (absl::Status parsed = ParseRequest(bytes, request.fields); !parsed.ok()) return parsed;
  request.spec = DecodeKeyedSpec(request.fields.spec(), catalog);
  Message rest;
  if (request.spec.ok() && !parts.spec.empty() && rest_has_no_spec(rest)) memo.Keep(parts.spec, *request.spec);
  return absl::OkStatus();
}

// Opens the table of a spec: calls `done` at once when it is open already, else as TableStore::Open does.
// The end of `call` ends the wait.
template <typename Done>
void OpenTable(TableStore& store, const KeyedSpec& spec, Call& call, Done done) {
  if (TablePtr table = store.FindOpen(spec.key)) return done(absl::StatusOr<TablePtr>(std::move(table)));
  call.StartRequest([&] { return store.Open(call.peer(), spec.spec, std::move(done)); });
}

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_REQUESTS_SPEC_REQUEST_H_

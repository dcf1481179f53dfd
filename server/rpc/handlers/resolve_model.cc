#include "server/rpc/handlers/resolve_model.h"

#include <string>
#include <utility>

#include "proto/record_reader.h"
#include "proto/spec_codec.h"
#include "server/models/model_config.h"
#include "server/rpc/calls/exceptions.h"
#include "server/rpc/slices/slice_frame.h"

namespace posenc {
namespace {

// The numbers of the two enums are the same.
static_assert(static_cast<int>(Pairing::kNone) == v1::PAIRING_UNSPECIFIED);
static_assert(static_cast<int>(Pairing::kHalfSplit) == v1::PAIRING_HALF_SPLIT);
static_assert(static_cast<int>(Pairing::kInterleaved) == v1::PAIRING_INTERLEAVED);
static_assert(static_cast<int>(Runtime::kMlxLm) == v1::RUNTIME_MLX_LM);

void EncodeOrigin(const ValueOrigin& origin, v1::ValueOrigin* message) {
  message->set_field(origin.field);
  message->set_value(origin.value);
  message->set_source(origin.source);
  message->set_defaulted(origin.defaulted);
  message->set_assumed(origin.assumed);
}

void EncodeTable(const ModelTable& table, v1::ModelTable* message) {
  message->set_name(table.name);
  *message->mutable_spec() = EncodeSpec(table.spec);
  message->set_pairing(static_cast<v1::Pairing>(table.pairing));
  message->set_softmax_scale(table.softmax_scale);
  message->set_magnitude(table.magnitude);
  message->set_rotary_begin(table.rotary_begin);
  message->set_applies_to(table.applies_to);
  for (const int64_t layer : table.layers) message->add_layers(layer);
  for (const ValueOrigin& origin : table.origins) EncodeOrigin(origin, message->add_origins());
}

absl::StatusOr<ModelQuery> DecodeQuery(const v1::ResolveModelRequest& request) {
  ModelQuery query{.config_json = request.config_json(), .gguf_json = request.gguf_json()};
  Violations bad;
  ReadEnum("runtime", request.runtime(), query.runtime, bad);
  if (request.file_case() == v1::ResolveModelRequest::FILE_NOT_SET) {
    bad.AddText("config_json", "is missing; allowed: the text of a config.json, or gguf_json");
  }
  if (request.has_effective_length()) query.effective_length = request.effective_length();
  if (!bad.empty()) return bad.ToStatus();
  return query;
}

absl::StatusOr<Frame> Resolve(const ModelQuery& query) {
  const absl::StatusOr<ModelTables> model = ResolveModel(query);
  if (!model.ok()) return model.status();
  v1::ResolveModelResponse response;
  response.set_model_type(model->model_type);
  response.set_known_family(model->known_family);
  for (const ModelTable& table : model->tables) EncodeTable(table, response.add_tables());
  for (const std::string& note : model->notes) response.add_notes(note);
  for (const int64_t layer : model->layers_without_table) response.add_layers_without_table(layer);
  return FrameMessage(response);
}

}  // namespace

void ResolveModel(const ContextPtr& context, const v1::ResolveModelRequest& request,
                  const std::shared_ptr<UnaryCall>& call) {
  absl::StatusOr<ModelQuery> query = DecodeQuery(request);
  if (!query.ok()) return call->Respond(query.status());
  context->store->Run([query = *std::move(query), call] {
    if (call->cancelled()) return call->Respond(call->EndStatus());
    CatchExceptions([&] { call->Respond(Resolve(query)); },
                    [&](absl::Status failure) { call->Respond(std::move(failure)); });
  });
}

}  // namespace posenc

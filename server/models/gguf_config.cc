#include "server/models/gguf_config.h"

#include "absl/status/status.h"

namespace posenc {

absl::StatusOr<ModelTables> ResolveGguf(const ModelQuery&) { return absl::UnimplementedError("not served"); }

}  // namespace posenc

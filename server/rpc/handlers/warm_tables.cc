#include "server/rpc/handlers/warm_tables.h"

#include <utility>
#include <vector>

#include "server/rpc/handlers/warm_progress.h"
#include "server/rpc/requests/request_decoding.h"

namespace posenc {

void WarmTables(const ContextPtr& context, const v1::WarmTablesRequest& request,
                const std::shared_ptr<StreamCall>& call) {
  absl::StatusOr<std::vector<TableSpec>> specs = DecodeSpecs(request.specs(), *context->catalog);
  if (!specs.ok()) return call->Finish(specs.status());
  std::make_shared<WarmProgress>(context, *std::move(specs), !request.unpinned(), call)->Start();
}

}  // namespace posenc

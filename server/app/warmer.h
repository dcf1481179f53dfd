// Warms the tables of the warm list, one after the other, while the listeners are open and health says
// NOT_SERVING.
//
// Threads: WarmAll blocks its caller. Progress goes to the log, about once a second for a large table, and
// to the life cycle.

#ifndef POSENC_SERVER_APP_WARMER_H_
#define POSENC_SERVER_APP_WARMER_H_

#include <vector>

#include "absl/status/status.h"
#include "server/app/config/warm_list.h"
#include "server/app/lifecycle/lifecycle.h"
#include "server/app/lifecycle/stop_request.h"
#include "server/tables/store/table_store.h"
#include "server/telemetry/log.h"

namespace posenc {

// Generates and pins every table; goes on after one that fails, so that the log names them all.
// Errors: Cancelled once a stop is requested; FailedPrecondition that names the tables that failed.
absl::Status WarmAll(TableStore& store, const std::vector<WarmEntry>& entries, StopRequest& stop,
                     Lifecycle& lifecycle, Logger& log);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_WARMER_H_

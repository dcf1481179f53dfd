#include "server/app/listeners/grpc_log.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>

#include <sstream>

#include "gtest/gtest.h"

namespace posenc {
namespace {

TEST(GrpcLogTest, ErrorsThatPeersCauseAreWrittenAFewTimesOnly) {
  std::ostringstream out;
  Logger log(LogFormat::kJson, LogLevel::kInfo, &out);
  RouteLibraryLogs(&log);
  grpc_init();  // before it has begun, gRPC logs nothing
  for (int i = 0; i < 4000; ++i) gpr_log(GPR_ERROR, "bad header %d", i);
  grpc_shutdown();
  RouteLibraryLogs(nullptr);
  EXPECT_GE(log.count(LogLevel::kWarning), 1u);
  EXPECT_LE(log.count(LogLevel::kWarning), 100u);  // 4000 without a bound, 20 in ten seconds with it
}

}  // namespace
}  // namespace posenc

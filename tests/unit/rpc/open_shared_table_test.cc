#include "gtest/gtest.h"
#include "tests/support/matchers.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

// What needs a socket is in tests/integration/shared_memory_test.cc.
class OpenSharedTableTest : public RpcTest {};

TEST_F(OpenSharedTableTest, ServerWithoutASocketSaysWhatToDo) {
  v1::OpenSharedTableRequest request;
  request.mutable_spec()->mutable_rope()->set_head_dim(8);
  EXPECT_THAT(OpenSharedTable(request),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("use StreamSlice")));
  request.set_socket_only(true);
  EXPECT_THAT(OpenSharedTable(request),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--shared-memory-socket")));
}

}  // namespace
}  // namespace posenc

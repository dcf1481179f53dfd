#include "server/app/listeners/socket_lock.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SocketLockTest : public testing::Test {
 protected:
  ~SocketLockTest() override { unlink((path_ + ".lock").c_str()); }
  const std::string path_ = absl::StrCat(testing::TempDir(), "/lock_test.", getpid());
};

TEST_F(SocketLockTest, SecondHolderIsRefusedByName) {
  const auto first = SocketLock::Acquire(path_);
  ASSERT_OK(first);
  EXPECT_THAT(SocketLock::Acquire(path_),
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr(path_), HasSubstr("in use"))));
}

TEST_F(SocketLockTest, LockIsFreeOnceItsHolderIsGone) {
  ASSERT_OK(SocketLock::Acquire(path_));
  EXPECT_OK(SocketLock::Acquire(path_));
}

TEST_F(SocketLockTest, FileThatIsNoSocketIsRefusedAndKept) {
  std::ofstream(path_) << "somebody's data";
  EXPECT_THAT(SocketLock::Acquire(path_),
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr(path_), HasSubstr("no socket"))));
  std::string kept;
  std::getline(std::ifstream(path_), kept);
  EXPECT_EQ(kept, "somebody's data");
  unlink(path_.c_str());
}

TEST_F(SocketLockTest, FolderThatIsNotThereIsNamed) {
  EXPECT_THAT(SocketLock::Acquire("/no/such/socket"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/no/such/socket.lock")));
}

}  // namespace
}  // namespace posenc

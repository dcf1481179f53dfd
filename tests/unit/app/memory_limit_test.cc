#include "server/app/config/memory_limit.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"

namespace posenc {
namespace {

namespace fs = std::filesystem;
using ::testing::Eq;
using ::testing::Optional;

class CgroupMemoryLimitTest : public testing::Test {
 protected:
  CgroupMemoryLimitTest() { fs::remove_all(folder_); }
  ~CgroupMemoryLimitTest() override { fs::remove_all(folder_); }

  void MemberOf(const std::string& line) { WriteFile("self", line); }
  void Limit(const std::string& group, const std::string& text) {
    WriteFile("root/" + group + "/memory.max", text);
  }
  void OldLimit(const std::string& group, const std::string& text) {
    WriteFile("v1/" + group + "/memory.limit_in_bytes", text);
  }
  std::optional<size_t> Found() const {
    return CgroupMemoryLimit(
        {(folder_ / "self").string(), (folder_ / "root").string(), (folder_ / "v1").string()});
  }

 private:
  void WriteFile(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text << "\n";
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(CgroupMemoryLimitTest, SmallestLimitOnTheWayCounts) {
  MemberOf("0::/pod/container");
  Limit("pod", "1000");
  Limit("pod/container", "2000");
  EXPECT_THAT(Found(), Optional(Eq(1000u)));
}

TEST_F(CgroupMemoryLimitTest, ContainerThatIsTheRootOfItsOwnViewIsRead) {
  MemberOf("0::/");
  Limit("", "4096");
  EXPECT_THAT(Found(), Optional(Eq(4096u)));
}

TEST_F(CgroupMemoryLimitTest, PathOutsideOfTheOwnViewFallsBackToTheRoot) {
  MemberOf("0::/../../host/path");
  Limit("", "4096");
  EXPECT_THAT(Found(), Optional(Eq(4096u)));
}

TEST_F(CgroupMemoryLimitTest, NoLimitIsNoLimit) {
  MemberOf("0::/a");
  Limit("a", "max");
  EXPECT_EQ(Found(), std::nullopt);
}

TEST_F(CgroupMemoryLimitTest, NoGroupsAndNonsenseAreNoLimit) {
  EXPECT_EQ(Found(), std::nullopt);
  MemberOf("4:cpu:/a");
  EXPECT_EQ(Found(), std::nullopt);
  MemberOf("0::/a");
  Limit("a", "many");
  EXPECT_EQ(Found(), std::nullopt);
}

TEST_F(CgroupMemoryLimitTest, SmallestLimitOfTheOldHierarchyCounts) {
  MemberOf("11:cpuset:/other\n4:hugetlb,memory:/docker/abc\n1:name=systemd:/docker/abc");
  OldLimit("", "9223372036854771712");  // what v1 says where no limit is set
  EXPECT_EQ(Found(), std::nullopt);
  OldLimit("docker", "3000");
  OldLimit("docker/abc", "2000");
  EXPECT_THAT(Found(), Optional(Eq(2000u)));
}

TEST_F(CgroupMemoryLimitTest, BothHierarchiesAreRead) {
  MemberOf("4:memory:/a\n0::/b");
  OldLimit("a", "2000");
  Limit("b", "1000");
  EXPECT_THAT(Found(), Optional(Eq(1000u)));
}

}  // namespace
}  // namespace posenc

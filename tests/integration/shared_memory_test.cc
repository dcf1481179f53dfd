#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/integration/process.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Whether an address lies in memory that a server has handed out.
bool IsShared(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    if (begin <= wanted && wanted < end) return line.find("memfd:posenc-table") != std::string::npos;
  }
  return false;
}

// A server with a socket for shared memory, and a table of 8 MiB.
class SharedMemoryTest : public ::testing::Test {
 protected:
  static std::string SocketPath() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    return std::string("/tmp/posenc-") + std::to_string(getpid()) + "-" + std::to_string(test->line()) + ".sock";
  }

  // Asks until the server's statistics are as wanted: it learns of closed connections in its own time.
  template <typename Wanted>
  bool Reaches(Wanted wanted) {
    const absl::Time limit = absl::Now() + absl::Seconds(30);
    while (absl::Now() < limit) {
      const absl::StatusOr<ServerStatus> info = client_.ServerInfo();
      if (info.ok() && wanted(info->cache)) return true;
    }
    return false;
  }

  const std::string socket_ = SocketPath();
  ServerProcess server_{{"--shared-memory-socket", socket_, "--cache-bytes", "64MiB"}};
  Client client_{MakeConnection(server_.target())};
  const Rope rope_{.head_dim = 128, .max_len = 16384};
  const TableContent expected_ = ContentOf(*Client(MakeLocalConnection()).Get(rope_));
};

TEST_F(SharedMemoryTest, LargeTablesAreMappedByThemselves) {
  const absl::StatusOr<Table> table = client_.Get(rope_);
  ASSERT_OK(table);
  EXPECT_TRUE(IsShared(table->bytes("cos").data()));
  EXPECT_TRUE(ContentOf(*table) == expected_);
}

TEST_F(SharedMemoryTest, SmallTablesAndSlicesAreReceived) {
  const absl::StatusOr<Table> small = client_.Get(Rope{.head_dim = 64, .max_len = 100});
  const absl::StatusOr<Table> slice = client_.Slice(rope_, {.rows = Range{0, 10000}});
  ASSERT_OK(small);
  ASSERT_OK(slice);
  EXPECT_FALSE(IsShared(small->bytes("cos").data()));
  EXPECT_FALSE(IsShared(slice->bytes("cos").data()));
}

TEST_F(SharedMemoryTest, ClientsShareOneCopy) {
  const absl::StatusOr<Table> first = client_.Get(rope_);
  const absl::StatusOr<Table> second = Client(MakeConnection(server_.target())).Get(rope_);
  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_EQ(client_.ServerInfo()->cache.resident_bytes, 8 * kMiB);
  EXPECT_EQ(client_.ServerInfo()->cache.blocks_generated, 1u);
}

TEST_F(SharedMemoryTest, NobodyCanWriteToIt) {
  const absl::StatusOr<Table> table = client_.Get(rope_);
  ASSERT_OK(table);
  void* const begin = const_cast<std::byte*>(table->bytes("cos").data());
  EXPECT_NE(mprotect(begin, 4096, PROT_READ | PROT_WRITE), 0);
  EXPECT_TRUE(errno == EACCES || errno == EPERM) << errno;
}

// The token is what allows; the client may run as another user.
TEST_F(SharedMemoryTest, SocketIsOpenToAllUsers) {
  struct stat info{};
  ASSERT_EQ(stat(socket_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0666u);
}

TEST_F(SharedMemoryTest, MappedTableOutlivesItsEviction) {
  absl::StatusOr<Table> table = client_.Get(rope_);
  ASSERT_OK(table);
  ASSERT_OK(client_.EvictAll());
  EXPECT_TRUE(ContentOf(*table) == expected_);
  EXPECT_EQ(client_.ServerInfo()->cache.orphaned_bytes, 8 * kMiB);
  table = Table();
  EXPECT_TRUE(Reaches([](const CacheStatus& cache) { return cache.orphaned_bytes == 0; }));
}

TEST_F(SharedMemoryTest, MappedTableOutlivesTheServer) {
  const absl::StatusOr<Table> table = client_.Get(rope_);
  ASSERT_OK(table);
  server_.Kill();
  EXPECT_TRUE(ContentOf(*table) == expected_);
  unlink(socket_.c_str());
}

TEST_F(SharedMemoryTest, EvictByKeyTakesTheSharedFormToo) {
  const absl::StatusOr<Table> table = client_.Get(rope_);
  ASSERT_OK(table);
  const absl::StatusOr<EvictedTables> evicted = client_.Evict({table->key()});
  ASSERT_OK(evicted);
  EXPECT_EQ(evicted->tables, 1);
  EXPECT_EQ(evicted->bytes, 8 * kMiB);
}

TEST_F(SharedMemoryTest, UnmappedTablesMakeRoomForOthers) {
  for (int64_t base = 2; base < 20; ++base) {
    ASSERT_OK(client_.Get(Rope{.head_dim = 128, .max_len = 16384, .base = static_cast<double>(base)}));
  }
  EXPECT_LE(client_.ServerInfo()->cache.resident_bytes, 64 * kMiB);
}

TEST_F(SharedMemoryTest, TableOverTheBudgetIsStreamedInstead) {
  const Rope large{.head_dim = 128, .max_len = 200000};
  const absl::StatusOr<Table> table = client_.Get(large);
  ASSERT_OK(table);
  EXPECT_FALSE(IsShared(table->bytes("cos").data()));
}

TEST(SharedMemoryOffTest, ServerWithoutASocketStreams) {
  const ServerProcess server;
  const absl::StatusOr<Table> table =
      Client(MakeConnection(server.target())).Get(Rope{.head_dim = 128, .max_len = 16384});
  ASSERT_OK(table);
  EXPECT_FALSE(IsShared(table->bytes("cos").data()));
}

}  // namespace
}  // namespace posenc

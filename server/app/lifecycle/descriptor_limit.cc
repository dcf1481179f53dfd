#include "server/app/lifecycle/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace posenc {
namespace {

// Where the hard limit is a thousand millions, a leak should still be seen one day.
constexpr rlim_t kMost = rlim_t{1} << 20;
constexpr size_t kMostSharedMemory = 4096;
// A scrape and some probes at a time; see HttpServer for what happens to the next one.
constexpr size_t kMostAdmin = 256;

}  // namespace

size_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::max(before, std::min(limit.rlim_max, kMost));
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  return static_cast<size_t>(std::min(limit.rlim_cur, kMost));
}

DescriptorShares ShareDescriptors(size_t limit, bool with_shared_memory) {
  DescriptorShares shares;
  shares.admin = std::min(kMostAdmin, limit / 8);
  shares.shared_memory = with_shared_memory ? std::min(kMostSharedMemory, limit / 8) : 0;
  // A lease has two: its connection and its memory.
  shares.grpc = limit - limit / 8 - shares.admin - 2 * shares.shared_memory;
  return shares;
}

}  // namespace posenc

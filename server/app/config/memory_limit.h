// How much memory the container gives this process, as cgroup v1 and v2 say it. Reads files; safe from any
// thread.

#ifndef POSENC_SERVER_APP_CONFIG_MEMORY_LIMIT_H_
#define POSENC_SERVER_APP_CONFIG_MEMORY_LIMIT_H_

#include <cstddef>
#include <optional>
#include <string>

namespace posenc {

// Where the kernel shows the cgroups; tests have their own.
struct CgroupPaths {
  std::string membership = "/proc/self/cgroup";
  std::string root = "/sys/fs/cgroup";            // of v2
  std::string v1_root = "/sys/fs/cgroup/memory";  // of v1's memory controller
};

// Returns the smallest limit in bytes (v2: memory.max; v1: memory.limit_in_bytes of the memory controller) of the
// process's cgroup and those above it; nothing where no limit is set.
std::optional<size_t> CgroupMemoryLimit(const CgroupPaths& paths = {});

}  // namespace posenc

#endif  // POSENC_SERVER_APP_CONFIG_MEMORY_LIMIT_H_

// The programs that benchmarks measure, as child processes on free ports of the loopback interface.

#ifndef POSENC_TESTS_BENCH_SUPPORT_PROGRAMS_H_
#define POSENC_TESTS_BENCH_SUPPORT_PROGRAMS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/support/child_process.h"

namespace posenc::bench {

// The folder of the running program, where the others are too.
std::string ProgramFolder();

struct PosencServer {
  std::unique_ptr<ChildProcess> process;
  std::string target;  // "127.0.0.1:PORT"
};

// Starts posenc-server with flags and waits until it is ready; on these CPUs only ("0,1"), unless empty.
// Errors: what the server said instead.
absl::StatusOr<PosencServer> StartPosencServer(std::vector<std::string> flags, const std::string& cpus = "");

struct BareServer {
  std::unique_ptr<ChildProcess> process;
  std::string raw_target;
  std::string typed_target;
};

// Starts bare_server; see there. Its streams have `stream_bytes`, in messages of the size of posenc-server's blocks.
absl::StatusOr<BareServer> StartBareServer(int64_t unary_bytes, int64_t stream_bytes);

// Ends the program with a message unless `status` is OK.
void ExitOnError(const absl::Status& status);

template <typename T>
T ValueOrExit(absl::StatusOr<T> value) {
  ExitOnError(value.status());
  return *std::move(value);
}

}  // namespace posenc::bench

#endif  // POSENC_TESTS_BENCH_SUPPORT_PROGRAMS_H_

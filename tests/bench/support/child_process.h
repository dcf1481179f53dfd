// A program that runs beside the benchmark and is talked to by lines: a server that says when it is ready,
// or a Python interpreter that is told to measure something.
//
// Ownership: the destructor kills the program; so does the kernel when the thread that started it ends, so
//            that an interrupted benchmark leaves no servers behind.
// Threads:   not thread-safe. Start it from the main thread.

#ifndef POSENC_TESTS_BENCH_SUPPORT_CHILD_PROCESS_H_
#define POSENC_TESTS_BENCH_SUPPORT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace posenc::bench {

enum class Output : uint8_t { kStdout, kStderr };

class ChildProcess {
 public:
  // Starts a program and reads the output chosen; the other one is the benchmark's own.
  // Errors: NotFound unless the program can be run.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& arguments,
                                                             Output read);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns the next line, without its end. Errors: Unavailable when the program has closed its output;
  // the message has the lines that were read so far.
  absl::StatusOr<std::string> ReadLine();

  // Writes a line to the program's standard input.
  void WriteLine(absl::string_view line);

  // Reads and forgets whatever the program still says, in the background.
  void IgnoreOutput();

  // Bytes of a field of /proc/PID/status: "VmRSS:", "VmHWM:".
  int64_t StatusBytes(absl::string_view field) const;

  // Seconds of processor time that the program has used so far, in user and system mode.
  double CpuSeconds() const;

 private:
  ChildProcess(pid_t pid, std::string name, int input, int output);

  const pid_t pid_;
  const std::string name_;
  FILE* const input_;
  FILE* const output_;
  std::string seen_;
  std::thread reader_;
};

}  // namespace posenc::bench

#endif  // POSENC_TESTS_BENCH_SUPPORT_CHILD_PROCESS_H_

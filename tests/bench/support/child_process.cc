#include "tests/bench/support/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace posenc::bench {
namespace {

// In the child: nothing but what may be done after fork in a program with threads.
[[noreturn]] void RunProgram(char* const* argv, int input, int output, Output read) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(input, STDIN_FILENO);
  dup2(output, read == Output::kStdout ? STDOUT_FILENO : STDERR_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const std::vector<std::string>& arguments, Output read) {
  if (access(arguments.front().c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(arguments.front(), ": there is no such program"));
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int to_child[2], from_child[2];
  if (pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "pipe2");
  }
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) RunProgram(argv.data(), to_child[0], from_child[1], read);
  close(to_child[0]);
  close(from_child[1]);
  return std::unique_ptr<ChildProcess>(
      new ChildProcess(pid, arguments.front(), to_child[1], from_child[0]));
}

ChildProcess::ChildProcess(pid_t pid, std::string name, int input, int output)
    : pid_(pid), name_(std::move(name)), input_(fdopen(input, "w")), output_(fdopen(output, "r")) {
  signal(SIGPIPE, SIG_IGN);
}

ChildProcess::~ChildProcess() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  if (reader_.joinable()) reader_.join();
  fclose(input_);
  fclose(output_);
}

absl::StatusOr<std::string> ChildProcess::ReadLine() {
  char* line = nullptr;
  size_t capacity = 0;
  const ssize_t length = getline(&line, &capacity, output_);
  std::string text(line == nullptr ? "" : line, length > 0 ? length : 0);
  free(line);
  if (length <= 0) return absl::UnavailableError(absl::StrCat(name_, " has ended; it said:\n", seen_));
  seen_ += text;
  if (text.back() == '\n') text.pop_back();
  return text;
}

void ChildProcess::WriteLine(absl::string_view line) {
  fwrite(line.data(), 1, line.size(), input_);
  fputc('\n', input_);
  fflush(input_);
}

void ChildProcess::IgnoreOutput() {
  reader_ = std::thread([output = output_] {
    char rest[4096];
    while (fread(rest, 1, sizeof(rest), output) > 0) {
    }
  });
}

int64_t ChildProcess::StatusBytes(absl::string_view field) const {
  std::ifstream status(absl::StrCat("/proc/", pid_, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (absl::StartsWith(line, field)) return std::atoll(line.c_str() + field.size()) * 1024;
  }
  return 0;
}

double ChildProcess::CpuSeconds() const {
  std::ifstream stat(absl::StrCat("/proc/", pid_, "/stat"));
  std::string text;
  std::getline(stat, text);
  // Fields 14 and 15; the second one, in parentheses, may hold blanks.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  int64_t user_ticks = 0, system_ticks = 0;
  fields >> user_ticks >> system_ticks;
  return static_cast<double>(user_ticks + system_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace posenc::bench

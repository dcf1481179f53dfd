#include "tests/unit/app/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

namespace posenc {
namespace {

constexpr int kLimitMs = 60000;

[[noreturn]] void Become(const std::vector<std::string>& args, int output, unsigned descriptor_limit) {
  if (descriptor_limit > 0) {
    const rlimit limit{descriptor_limit, descriptor_limit};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  const std::string program = POSENC_BINARY_DIR "/posenc-server";
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

}  // namespace

std::unique_ptr<ServerProcess> ServerProcess::Start(const std::vector<std::string>& args,
                                                    unsigned descriptor_limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  const pid_t pid = fork();
  if (pid == 0) Become(args, ends[1], descriptor_limit);
  close(ends[1]);
  return std::unique_ptr<ServerProcess>(new ServerProcess(pid, ends[0]));
}

std::unique_ptr<ServerProcess> ServerProcess::WithArguments(const std::vector<std::string>& args) {
  return Start(args, 0);
}

std::unique_ptr<ServerProcess> ServerProcess::OnFreePorts(std::vector<std::string> args) {
  return WithDescriptorLimit(0, std::move(args));
}

std::unique_ptr<ServerProcess> ServerProcess::WithDescriptorLimit(unsigned limit, std::vector<std::string> args) {
  args.insert(args.begin(), {"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format",
                             "json"});
  return Start(args, limit);
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(pipe_);
}

ServerProcess::Reading ServerProcess::ReadSome(int limit_ms) {
  pollfd ready{.fd = pipe_, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, limit_ms) <= 0) return Reading::kNothing;
  char buffer[4096];
  const ssize_t size = read(pipe_, buffer, sizeof(buffer));
  if (size <= 0) return Reading::kEnd;
  unread_.append(buffer, static_cast<size_t>(size));
  output_.append(buffer, static_cast<size_t>(size));
  return Reading::kMore;
}

std::optional<std::string> ServerProcess::ReadLine() {
  for (;;) {
    const size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (ReadSome(kLimitMs) != Reading::kMore) return std::nullopt;
  }
}

std::optional<nlohmann::json> ServerProcess::AwaitLog(const std::string& message) {
  while (const std::optional<std::string> line = ReadLine()) {
    const auto json = nlohmann::json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.value("msg", "") == message) return json;
  }
  return std::nullopt;
}

int ServerProcess::AwaitPort(const std::string& message) {
  const auto line = AwaitLog(message);
  return line ? line->value("port", 0) : 0;
}

std::shared_ptr<grpc::Channel> ServerProcess::AwaitChannel() {
  return grpc::CreateChannel(absl::StrCat("127.0.0.1:", AwaitPort()), grpc::InsecureChannelCredentials());
}

void ServerProcess::Send(int signal) { kill(pid_, signal); }

int ServerProcess::SendUntilExit(int signal) {
  constexpr int kTimes = kLimitMs / 50;
  for (int i = 0; i < kTimes; ++i) {
    Send(signal);
    Reading reading = Reading::kMore;
    while (reading == Reading::kMore) reading = ReadSome(50);
    if (reading == Reading::kEnd) break;
  }
  return AwaitExit();
}

int ServerProcess::AwaitExit() {
  // The log ends when the process does, which wakes this without polling the process.
  while (ReadLine()) continue;
  int status = 0;
  if (waitpid(pid_, &status, 0) != std::exchange(pid_, -1)) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace posenc

#include "tests/integration/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "gtest/gtest.h"

extern char** environ;

namespace posenc {

ServerProcess::ServerProcess(const std::vector<std::string>& flags, int port) {
  std::vector<std::string> arguments = {POSENC_BINARY_DIR "/posenc-server",
                                        "--listen", "127.0.0.1:" + std::to_string(port),
                                        "--admin-listen", "127.0.0.1:0", "--log-format", "json"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  int pipe_fds[2];
  EXPECT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  Spawn(std::move(arguments), pipe_fds[1]);
  close(pipe_fds[1]);
  AwaitReady(pipe_fds[0]);
}

ServerProcess::~ServerProcess() { Kill(); }

void ServerProcess::Spawn(std::vector<std::string> arguments, int log_fd) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, log_fd, STDERR_FILENO);
  EXPECT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0) << argv[0];
  posix_spawn_file_actions_destroy(&actions);
}

void ServerProcess::AwaitReady(int log_fd) {
  FILE* log = fdopen(log_fd, "r");
  char* line = nullptr;
  size_t capacity = 0;
  std::string seen;
  bool ready = false;
  while (!ready && getline(&line, &capacity, log) > 0) {
    seen += line;
    if (std::strstr(line, "\"listening\"") != nullptr) {
      if (const char* at = std::strstr(line, "\"port\":")) port_ = std::atoi(at + std::strlen("\"port\":"));
    }
    ready = std::strstr(line, "\"ready\"") != nullptr;
  }
  free(line);
  EXPECT_TRUE(ready && port_ != 0) << "the server did not start:\n" << seen;
  log_reader_ = std::thread([log] {
    char rest[4096];
    while (fread(rest, 1, sizeof(rest), log) > 0) {
    }
    fclose(log);
  });
}

void ServerProcess::Kill() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  if (log_reader_.joinable()) log_reader_.join();
}

int64_t ServerProcess::StatusBytes(const std::string& field) const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  std::string word;
  int64_t kibibytes = 0;
  while (status >> word) {
    if (word == field) status >> kibibytes;
  }
  EXPECT_GT(kibibytes, 0) << "the server is gone";
  return kibibytes * 1024;
}

}  // namespace posenc

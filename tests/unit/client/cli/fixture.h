// Runs the program as its users call it. One test at a time; each has a folder of its own, removed at its end.

#ifndef POSENC_TESTS_UNIT_CLIENT_CLI_FIXTURE_H_
#define POSENC_TESTS_UNIT_CLIENT_CLI_FIXTURE_H_

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace posenc {

struct Result {
  int exit_code = 0;
  std::string out = {};
  std::string err = {};
};

// A folder for each test, and the program run in a shell.
class CliTest : public ::testing::Test {
 protected:
  CliTest() { std::filesystem::create_directories(folder_); }
  ~CliTest() override { std::filesystem::remove_all(folder_); }

  // Runs the program; `before` is the words in front of it, such as variables of its environment.
  Result Run(const std::string& arguments, const std::string& before = "") const {
    const std::string err = Path("stderr");
    const std::string command =
        "env -u POSENC_SERVER " + before + " " POSENC_BINARY_DIR "/posenc " + arguments + " 2>" + err;
    Result result;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (const size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) {
      result.out.append(buffer.data(), count);
    }
    result.exit_code = WEXITSTATUS(pclose(pipe));
    result.err = Read(err);
    return result;
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }

  // A folder for each test process, as ctest runs one for each case.
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("posenc_cli_test." + std::to_string(getpid()));
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_CLIENT_CLI_FIXTURE_H_

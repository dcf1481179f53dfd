#include "client/cli/plot/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/output/output.h"

namespace posenc::cli {
namespace {

// A file without a name, in memory.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }

  bool Write(const std::string& text) const {
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t count = write(descriptor_, text.data() + done, text.size() - done);
      if (count < 0) return false;
      done += static_cast<size_t>(count);
    }
    return lseek(descriptor_, 0, SEEK_SET) == 0;
  }

  std::string Read() const {
    std::string text;
    char buffer[1 << 16];
    if (lseek(descriptor_, 0, SEEK_SET) != 0) return text;
    for (ssize_t count; (count = read(descriptor_, buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }

 private:
  const int descriptor_;
};

// Runs gnuplot; returns what kept it from running, as errno, or 0.
int Run(const MemoryFile& script, const MemoryFile& picture, int& exit_status) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, script.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, picture.descriptor(), STDOUT_FILENO);
  // Not the user's own settings, which would change the picture.
  const char* const arguments[] = {"gnuplot", "--default-settings", nullptr};
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, "gnuplot", &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return error;
  while (waitpid(child, &exit_status, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

std::string TerminalOf(const Picture& picture, const std::string& path) {
  const bool svg = absl::EndsWith(path, ".svg");
  return absl::StrCat("set terminal ", svg ? "svg" : "pngcairo", " size ", picture.width_pixels, ",",
                      picture.height_pixels, " font 'sans,", svg ? 14 : 11, "' background '#ffffff'\n");
}

}  // namespace

std::string CheckPictureName(const std::string& path) {
  for (const char* ending : {".png", ".svg", ".gp"}) {
    if (absl::EndsWith(path, ending)) return "";
  }
  return absl::StrCat("'", path, "'; allowed: a name that ends in .png, .svg, or .gp for gnuplot's script");
}

Outcome Draw(const Picture& picture, const std::string& path) {
  Output output(path);
  if (absl::EndsWith(path, ".gp")) {
    output.stream() << picture.script;
    return output.Commit();
  }
  const MemoryFile script("script");
  const MemoryFile drawn("picture");
  if (!script.Write(TerminalOf(picture, path) + picture.script)) {
    return FileError(absl::StrCat("no memory for the picture: ", std::strerror(errno)));
  }
  int exit_status = 0;
  const int error = Run(script, drawn, exit_status);
  if (error == ENOENT) {
    return Usage("gnuplot draws the pictures, and is not installed: apt install gnuplot-nox "
                 "(-o FILE.gp saves the script for another machine)");
  }
  if (error != 0) return FileError(absl::StrCat("cannot run gnuplot: ", std::strerror(error)));
  const std::string bytes = drawn.Read();
  if (exit_status != 0 || bytes.empty()) return FileError("gnuplot drew nothing; its words stand above");
  output.stream() << bytes;
  return output.Commit();
}

std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}, {"\n", " "}}), "'");
}

}  // namespace posenc::cli

#include "tests/bench/pytorch/pytorch.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {

absl::StatusOr<PyTorch> PyTorch::Start(Memory memory) {
  std::vector<std::string> arguments = {"/usr/bin/env", "OMP_NUM_THREADS=1"};
  // Everything from one heap that never shrinks.
  if (memory == Memory::kKept) {
    arguments.insert(arguments.end(), {"MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=17179869184"});
  }
  arguments.insert(arguments.end(), {"/usr/bin/python3", POSENC_BENCH_PYTORCH_DIR "/recipes.py"});
  auto process = ChildProcess::Start(arguments, Output::kStdout);
  if (!process.ok()) return process.status();
  const absl::StatusOr<std::string> line = (*process)->ReadLine();
  if (!line.ok()) return absl::UnavailableError("/usr/bin/python3 does not run");
  absl::string_view version = *line;
  if (!absl::ConsumePrefix(&version, "ready ")) {
    return absl::UnavailableError(absl::StrCat("/usr/bin/python3 has no torch: ", *line));
  }
  return PyTorch(*std::move(process), std::string(version));
}

double PyTorch::Run(const std::string& recipe) {
  process_->WriteLine(recipe);
  return std::atof(ValueOrExit(process_->ReadLine()).c_str());
}

}  // namespace posenc::bench

// PyTorch in a Python process of its own, which runs one recipe of recipes.py at a time.

#ifndef POSENC_TESTS_BENCH_PYTORCH_PYTORCH_H_
#define POSENC_TESTS_BENCH_PYTORCH_PYTORCH_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "tests/bench/support/child_process.h"

namespace posenc::bench {

// What becomes of the memory of tensors that are freed.
enum class Memory : uint8_t {
  kReturned,  // as everybody has it: each large tensor is of new pages
  kKept,      // the allocator keeps it, so that no page fault is measured
};

class PyTorch {
 public:
  // Errors: Unavailable where /usr/bin/python3 has no torch.
  static absl::StatusOr<PyTorch> Start(Memory memory);

  // Runs a recipe once and returns the seconds it took, measured there. Ends the program on an error.
  double Run(const std::string& recipe);

  // "1.13.0 AVX2".
  const std::string& version() const { return version_; }

 private:
  PyTorch(std::unique_ptr<ChildProcess> process, std::string version)
      : process_(std::move(process)), version_(std::move(version)) {}

  std::unique_ptr<ChildProcess> process_;
  std::string version_;
};

}  // namespace posenc::bench

#endif  // POSENC_TESTS_BENCH_PYTORCH_PYTORCH_H_

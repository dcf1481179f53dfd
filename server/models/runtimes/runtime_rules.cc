#include "server/models/runtimes/runtime_rules.h"

#include <span>

#include "server/models/runtimes/rule_tools.h"
#include "server/models/runtimes/runtime_refusals.h"

namespace posenc {
namespace {

struct RuntimeRules {
  Runtime runtime;
  absl::string_view source;  // README.md has the commits
  std::span<const RuntimeRule> (*rules)();
};

constexpr RuntimeRules kRuntimes[] = {
    {Runtime::kVllm, "vLLM of August 2026", VllmRules},
    {Runtime::kLlamaCpp, "llama.cpp of August 2026", LlamaCppRules},
    {Runtime::kTensorRtLlm, "TensorRT-LLM 1.x", TensorRtRules},
    {Runtime::kMlxLm, "mlx-lm of August 2026", MlxRules},
};

}  // namespace

void ApplyRuntimeRules(RopeDraft& rope) {
  AddRuntimeRefusals(rope);
  for (const RuntimeRules& one : kRuntimes) {
    if (one.runtime != rope.scope.runtime) continue;
    for (const RuntimeRule rule : one.rules()) rule(rope, one.source);
  }
}

}  // namespace posenc

// Additions to a plain rotary table: xPos and dual chunk attention. Values.

#ifndef POSENC_SERVER_CORE_SPECS_ROPE_VARIANTS_H_
#define POSENC_SERVER_CORE_SPECS_ROPE_VARIANTS_H_

#include <array>
#include <cstdint>

#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

// xPos (Sun et al. 2022): cosines and sines of queries times g_i^z, of keys times g_i^(−z),
// g_i = (2i + 0.4d) / 1.4d, z = (p − centre) / scale_base. Tensors q_cos, q_sin, k_cos, k_sin. The centre
// is a parameter, since tables of different lengths only match when it is the same.
struct XPos {
  double scale_base = 512.0;
  double centre = 0.0;

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "scale_base", .help = "Positions over which the scale grows by g", .low = 1e-3,
                .high = limits::kMaxFactor}, self.scale_base);
    visit(Field{.name = "centre", .help = "Position whose scale is 1 (half of a sequence's length)",
                .low = -limits::kMaxPosition, .high = limits::kMaxPosition, .required = true}, self.centre);
  }
};

// The five tables of dual chunk attention (An et al. 2024; vLLM), c = chunk_size − local_size. Row r is
//  kQuery         position r, c rows
//  kSuccessor     position min(r + c, chunk_size), c rows
//  kCritical      position r + c, c rows
//  kInter         position r + chunk_size, c rows
//  kKey           position r mod c, max_len rows
enum class ChunkRole : uint8_t { kQuery = 1, kSuccessor = 2, kCritical = 3, kInter = 4, kKey = 5 };
constexpr auto EnumNames(ChunkRole) {
  return std::to_array<absl::string_view>({"query", "successor", "critical", "inter", "key"});
}

struct DualChunk {
  ChunkRole role = ChunkRole::kQuery;
  int64_t chunk_size = 0;
  int64_t local_size = 0;

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(Field{.name = "role", .help = "Which of the five tables"}, self.role);
    visit(Field{.name = "chunk_size", .help = "Positions of a chunk", .low = 2, .high = kMaxPosition / 4,
                .required = true}, self.chunk_size);
    visit(Field{.name = "local_size", .help = "Positions that chunks share", .low = 1,
                .high = kMaxPosition / 4, .required = true}, self.local_size);
  }
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_ROPE_VARIANTS_H_

#include "client/cli/flags/family_help.h"

#include <array>

namespace posenc::cli {
namespace {

struct Entry {
  absl::string_view family;
  const char* about;
  const char* examples;
  const char* smallest;
};

constexpr std::array kEntries = {
    Entry{"sinusoidal", "Sinusoidal table [max_len, d_model]",
          "Examples:\n"
          "  posenc sinusoidal --d-model 512 --rows 0:10 --cols 0:8\n"
          "  posenc sinusoidal --d-model 512 -o pe.npy\n"
          "fairseq's and Marian's tables, whose row 1 is padding:\n"
          "  posenc sinusoidal --d-model 1024 --order sin-cos --frequency-shift 1 --zero-row 1 --rows 0:5\n"
          "Timesteps of a diffusion model:\n"
          "  posenc sinusoidal --d-model 320 --order cos-sin --real-positions 0.5,998.3897\n"
          "Transformer-XL's falling positions, from 7 to 0:\n"
          "  posenc sinusoidal --d-model 8 --order sin-cos --descending --first-position 7 --rows 0:8\n"
          "What a PyTorch module computes in float32:\n"
          "  posenc sinusoidal --d-model 512 --arithmetic float32 --rows 4999",
          "--d-model 512"},
    Entry{"rope", "Rotary table: cos and sin [max_len, rotary_dim / 2], or another layout",
          "Examples:\n"
          "  posenc rope --head-dim 128 --max-len 131072 --base 500000 --positions 131071\n"
          "  posenc rope --model config.json --rows 0:4 --format json\n"
          "  posenc rope --model model.gguf --as llama.cpp --rows 0:4\n"
          "  posenc rope --head-dim 128 --layout cos-sin --dtype bf16 -o rope.safetensors\n"
          "Llama 3.1, YaRN as Qwen has it, dynamic NTK at a length, your own frequencies:\n"
          "  posenc rope --head-dim 128 --base 500000 --scaling llama3 --factor 8 --rows 0:4\n"
          "  posenc rope --head-dim 128 --base 1e6 --scaling yarn --factor 4 --original-max-len 32768 --rows 0:4\n"
          "  posenc rope --head-dim 128 --scaling dynamic --factor 2 --original-max-len 4096 \\\n"
          "    --effective-length 8192 --rows 0:4\n"
          "  posenc rope --head-dim 4 --inverse-frequencies 1,0.01 --rows 0:3\n"
          "longrope: the short factors up to the trained length, the long ones for a longer sequence:\n"
          "  posenc rope --head-dim 4 --scaling longrope --factor 32 --original-max-len 4096 \\\n"
          "    --short-factor 1,1.05 --long-factor 1.2,31 --effective-length 8192 --rows 0:3\n"
          "M-RoPE (Qwen2-VL), a position for time, height and width each; a grid of patches; xPos:\n"
          "  posenc rope --head-dim 128 --base 1e6 --axes-sections 16,24,24 --axis-positions 0,0,7,1,1,1\n"
          "  posenc rope --head-dim 80 --grid-sizes 16,16 --axes-map separate --axes-sections 20,20 --rows 0:4\n"
          "  posenc rope --head-dim 64 --xpos-centre 512 --rows 0:4",
          "--head-dim 128"},
    Entry{"alibi", "ALiBi bias [heads, queries, keys], or the slopes",
          "Examples:\n"
          "  posenc alibi --heads 12 --form symmetric --q 0:1 --k 0:20\n"
          "  posenc alibi --heads 8 --form slopes\n"
          "  posenc alibi --heads 12 --form symmetric --head-range 0:2 --q :4 --k :4 --format csv\n"
          "One row for all queries, as MPT adds it; slope times key, as BLOOM does:\n"
          "  posenc alibi --heads 12 --form row --max-len 20\n"
          "  posenc alibi --heads 12 --form key-index --max-len 20",
          "--heads 12"},
    Entry{"learned", "Learned table [rows, width] that the server was given under a name",
          "Examples:\n"
          "  posenc learned bert --rows 0:4 --cols 0:8\n"
          "  posenc learned wpe --learned wpe=model.safetensors:wpe.weight --local --rows 0:4\n"
          "OPT's and BART's positions begin at row 2; a ViT's 14 x 14 patches resized to 16 x 16:\n"
          "  posenc learned opt --position-offset 2 --positions 0,1,2\n"
          "  posenc learned vit --resize-source-height 14 --resize-source-width 14 --resize-height 16 \\\n"
          "    --resize-width 16 --resize-leading-rows 1",
          "NAME"},
    Entry{"grid-sinusoidal", "Sinusoidal table [rows, d_model] over a grid of patches",
          "Examples:\n"
          "  posenc grid-sinusoidal --d-model 768 --grid-sizes 14,14 --rows 0:4\n"
          "MAE: the column first, a class token before the grid; DETR's coordinates:\n"
          "  posenc grid-sinusoidal --d-model 768 --grid-sizes 14,14 --axis-order 1,0 --grid-leading-rows 1\n"
          "  posenc grid-sinusoidal --d-model 256 --grid-sizes 25,34 --grid-coordinates unit --full-turns \\\n"
          "    --order interleaved --rows 0:4",
          "--d-model 768 --grid-sizes 14,14"},
    Entry{"relative-bucket", "Buckets of distances [queries, keys], or the bias of a T5 model",
          "Examples:\n"
          "  posenc relative-bucket --max-len 20\n"
          "T5's decoder; DeBERTa; the bias itself, from a checkpoint's weight:\n"
          "  posenc relative-bucket --max-len 20 --bidirectional=false\n"
          "  posenc relative-bucket --rule deberta --buckets 256 --max-distance 512 --q 300 --k 0:20\n"
          "  posenc relative-bucket --weight t5 --max-len 20 --local \\\n"
          "    --learned t5=model.safetensors:encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
          "--max-len 20"},
    Entry{"relative-bias", "Bias [heads, queries, keys] that is a function of the distance",
          "Examples:\n"
          "  posenc relative-bias --rule proximal --max-len 16\n"
          "Sandwich; KERPLE, whose parameters are learned for each head:\n"
          "  posenc relative-bias --rule sandwich --heads 12 --head-dim 64 --q 31 --k 0:32\n"
          "  posenc relative-bias --rule kerple --heads 2 --r1 1,0.5 --r2 1,2 --q 31 --k 0:32",
          "--max-len 16"},
    Entry{"query-temperature", "Factor on queries by position [max_len, 1] (Llama 4, Ministral 3)",
          "Examples:\n"
          "  posenc query-temperature --position-offset 1 --max-len 131072 --positions 0,8191,8192,100000\n"
          "  posenc query-temperature --floor-len 16384 --scale 0.1 --max-len 20000 --positions 0,16383,16384",
          "--max-len 20000"},
};

}  // namespace

FamilyHelp HelpOf(absl::string_view family) {
  for (const Entry& entry : kEntries) {
    if (entry.family == family) return {entry.about, entry.examples, entry.smallest};
  }
  return {};
}

}  // namespace posenc::cli

// Families that bias their scores by distance: ALiBi, buckets of T5 and DeBERTa.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

using enum PositionRule;

constexpr ModelFamily kRows[] = {
    {.model_type = "baichuan", .class_name = "BaichuanConfig", .rule = kAlibiIfWide, .hidden_size = 4096,
     .heads = 32, .max_len = 4096},
    {.model_type = "bloom", .class_name = "BloomConfig", .rule = kAlibi, .heads = 8},
    {.model_type = "deberta", .class_name = "DebertaConfig", .rule = kDebertaBuckets, .max_len = 512},
    {.model_type = "deberta-v2", .class_name = "DebertaV2Config", .rule = kDebertaBuckets, .max_len = 512},
    {.model_type = "falcon", .class_name = "FalconConfig", .rule = kAlibiIfFlag, .hidden_size = 4544,
     .heads = 71, .max_len = 2048},
    {.model_type = "longt5", .class_name = "LongT5Config", .rule = kT5Buckets, .max_len = 512,
     .note = "the encoder's local and global attention have distances of their own kind"},
    {.model_type = "mpnet", .class_name = "MPNetConfig", .rule = kT5Buckets, .max_len = 512, .decoder = false,
     .note = "besides the buckets there is a learned table, embeddings.position_embeddings.weight, whose "
             "position p is row p + pad_token_id + 1"},
    {.model_type = "mpt", .class_name = "MptConfig", .rule = kAlibiIfAttnFlag, .hidden_size = 2048,
     .heads = 16, .max_len = 2048, .base_parent_key = "attn_config", .tensor = kGptTensor},
    {.model_type = "mt5", .class_name = "MT5Config", .rule = kT5Buckets, .max_len = 512},
    {.model_type = "pop2piano", .class_name = "Pop2PianoConfig", .rule = kT5Buckets, .max_len = 512},
    {.model_type = "refact", .class_name = "GPTRefactConfig", .rule = kAlibi},
    {.model_type = "RefinedWeb", .class_name = "FalconConfig", .rule = kAlibiIfFlag, .hidden_size = 8192,
     .heads = 128, .max_len = 2048},
    {.model_type = "RefinedWebModel", .class_name = "FalconConfig", .rule = kAlibiIfFlag, .hidden_size = 4544,
     .heads = 71, .max_len = 2048},
    {.model_type = "switch_transformers", .class_name = "SwitchTransformersConfig", .rule = kT5Buckets,
     .max_len = 512},
    {.model_type = "t5", .class_name = "T5Config", .rule = kT5Buckets, .max_len = 512},
    {.model_type = "udop", .class_name = "UdopConfig", .rule = kT5Buckets, .max_len = 512},
    {.model_type = "umt5", .class_name = "UMT5Config", .rule = kT5Buckets, .max_len = 512,
     .note = "every layer has a bias of its own"},
    {.model_type = "pix2struct", .class_name = "Pix2StructTextConfig", .rule = kT5Buckets, .max_len = 512,
     .note = "the vision model adds learned tables of rows and columns"},
};

}  // namespace

std::span<const ModelFamily> BiasedFamilies() { return kRows; }

}  // namespace posenc

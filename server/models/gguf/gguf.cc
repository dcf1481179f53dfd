#include "server/models/gguf/gguf.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/models/config/config_json.h"
#include "server/models/gguf/gguf_cursor.h"

namespace posenc {
namespace {

// Limits of a head. Real files have some hundred keys and some thousand tensors, and the longest lists are
// the tokenizer's, which are not kept.
constexpr uint64_t kMaxKeys = 1 << 16;
constexpr uint64_t kMaxTensors = 1 << 20;
constexpr uint64_t kMaxNameBytes = 1 << 16;
constexpr uint64_t kMaxKeptText = 1024;
constexpr uint64_t kMaxKeptList = 4096;
constexpr size_t kMaxKeptValues = 1 << 15;  // of all keys together
constexpr uint64_t kMaxDimensions = 8;
constexpr uint64_t kMaxPairs = 32768;       // of one head
constexpr uint64_t kMaxElements = uint64_t{1} << 50;
constexpr size_t kMaxKeptBytes = 1 << 20;   // keys and texts together: what a request may carry
constexpr int kMaxListDepth = 4;
constexpr uint64_t kDefaultAlignment = 32;

constexpr absl::string_view kRopeTensors[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                              "rope_factors_short.weight"};
constexpr absl::string_view kPositionTensor = "position_embd.weight";
constexpr uint32_t kTypeF32 = 0;  // of ggml's tensor types

// Types of metadata values, by the file format's own numbers.
enum class ValueType : uint32_t {
  kU8 = 0, kI8 = 1, kU16 = 2, kI16 = 3, kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kString = 8, kArray = 9,
  kU64 = 10, kI64 = 11, kF64 = 12,
};

// Bytes of a value; 0 for what has no fixed size or is no type.
uint64_t SizeOf(ValueType type) {
  constexpr uint64_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kSizes) ? kSizes[index] : 0;
}

// A tensor as its entry in the head describes it.
struct TensorEntry {
  GgufTensor tensor;
  uint32_t type = 0;
  uint64_t offset = 0;
  uint64_t elements = 1;
};

class HeadReader {
 public:
  HeadReader(std::istream& stream, uint64_t size_bytes) : cursor_(stream, size_bytes) {}

  absl::StatusOr<GgufFile> Read();

 private:
  absl::Status ReadCounts();
  absl::Status ReadKey();
  absl::StatusOr<Json> ReadValue(ValueType type, bool keep, int depth);
  absl::StatusOr<Json> ReadScalar(ValueType type);
  absl::StatusOr<Json> ReadText(bool keep);
  absl::StatusOr<Json> ReadList(bool keep, int depth);
  absl::Status ReadEntry();
  absl::Status ReadData();

  GgufCursor cursor_;
  GgufFile file_;
  uint64_t tensors_ = 0;
  uint64_t keys_ = 0;
  size_t kept_values_ = 0;
  size_t kept_bytes_ = 0;
  std::vector<TensorEntry> entries_;
  uint64_t last_offset_ = 0;
};

absl::Status HeadReader::ReadCounts() {
  char magic[4];
  const absl::Status read = cursor_.Read(magic, sizeof(magic), "its magic number");
  if (!read.ok()) return read;
  if (std::memcmp(magic, "GGUF", sizeof(magic)) != 0) return RefuseGguf("does not begin with GGUF", 0);
  const absl::StatusOr<uint32_t> version = cursor_.Number<uint32_t>("its version");
  if (!version.ok()) return version.status();
  const bool swapped = *version != 0 && (*version & 0xffff) == 0;
  if (swapped) return RefuseGguf("is big-endian; allowed: little-endian", 4);
  if (*version != 2 && *version != 3)
    return RefuseGguf(absl::StrCat("has version ", *version, "; allowed: 2, 3"), 4);
  file_.version = *version;
  const auto tensors = cursor_.Number<uint64_t>("its number of tensors");
  if (!tensors.ok()) return tensors.status();
  const auto keys = cursor_.Number<uint64_t>("its number of keys");
  if (!keys.ok()) return keys.status();
  if (*tensors > kMaxTensors)
    return RefuseGguf(absl::StrCat("has ", *tensors, " tensors; allowed: ", kMaxTensors), 8);
  if (*keys > kMaxKeys) return RefuseGguf(absl::StrCat("has ", *keys, " keys; allowed: ", kMaxKeys), 16);
  tensors_ = *tensors;
  keys_ = *keys;
  return absl::OkStatus();
}

// What no positional table depends on is passed over.
bool IsKept(absl::string_view key) {
  return !absl::StartsWith(key, "tokenizer.") && !absl::StartsWith(key, "quantize.") &&
         !absl::StartsWith(key, "split.");
}

absl::Status HeadReader::ReadKey() {
  const absl::StatusOr<std::string> key = cursor_.Text(kMaxNameBytes, "a key");
  if (!key.ok()) return key.status();
  const absl::StatusOr<uint32_t> type = cursor_.Number<uint32_t>("a value's type");
  if (!type.ok()) return type.status();
  absl::StatusOr<Json> value = ReadValue(static_cast<ValueType>(*type), IsKept(*key), 0);
  if (!value.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(value.status().message(), ", key ", Quote(*key)));
  }
  if (file_.metadata.contains(*key)) {
    return RefuseGguf(absl::StrCat("has the key ", Quote(*key), " twice"), cursor_.position());
  }
  if (value->is_null()) return absl::OkStatus();
  kept_bytes_ += key->size() + (value->is_string() ? value->get_ref<const std::string&>().size() : 0);
  if (kept_bytes_ > kMaxKeptBytes) return RefuseGguf("has too many long keys and texts", cursor_.position());
  file_.metadata[*key] = std::move(*value);
  return absl::OkStatus();
}

// Returns the value, or null for one that is passed over.
absl::StatusOr<Json> HeadReader::ReadValue(ValueType type, bool keep, int depth) {
  if (type == ValueType::kString) return ReadText(keep);
  if (type == ValueType::kArray) return ReadList(keep, depth);
  if (SizeOf(type) == 0) {
    return RefuseGguf(absl::StrCat("has a value of type ", static_cast<uint32_t>(type), "; allowed: 0 to 12"),
                  cursor_.position());
  }
  absl::StatusOr<Json> value = ReadScalar(type);
  if (!value.ok() || keep) return value;
  return Json();
}

// JSON has no NaN and no infinity: a text, which no reader takes for a number.
Json FloatJson(double value) { return std::isfinite(value) ? Json(value) : Json(absl::StrCat(value)); }

template <typename T>
absl::StatusOr<Json> Whole(GgufCursor& cursor) {
  const absl::StatusOr<T> value = cursor.Number<T>("a number");
  if (!value.ok()) return value.status();
  return Json(*value);
}

template <typename T>
absl::StatusOr<Json> Float(GgufCursor& cursor) {
  const absl::StatusOr<T> value = cursor.Number<T>("a number");
  if (!value.ok()) return value.status();
  return FloatJson(static_cast<double>(*value));
}

absl::StatusOr<Json> HeadReader::ReadScalar(ValueType type) {
  switch (type) {
    case ValueType::kU8: return Whole<uint8_t>(cursor_);
    case ValueType::kI8: return Whole<int8_t>(cursor_);
    case ValueType::kU16: return Whole<uint16_t>(cursor_);
    case ValueType::kI16: return Whole<int16_t>(cursor_);
    case ValueType::kU32: return Whole<uint32_t>(cursor_);
    case ValueType::kI32: return Whole<int32_t>(cursor_);
    case ValueType::kU64: return Whole<uint64_t>(cursor_);
    case ValueType::kI64: return Whole<int64_t>(cursor_);
    case ValueType::kF32: return Float<float>(cursor_);
    case ValueType::kF64: return Float<double>(cursor_);
    case ValueType::kBool: {
      const absl::StatusOr<uint8_t> value = cursor_.Number<uint8_t>("a boolean");
      if (!value.ok()) return value.status();
      return Json(*value != 0);
    }
    case ValueType::kString:
    case ValueType::kArray: break;
  }
  return Json();
}

absl::StatusOr<Json> HeadReader::ReadText(bool keep) {
  const absl::StatusOr<uint64_t> length = cursor_.Number<uint64_t>("a text's length");
  if (!length.ok()) return length.status();
  if (*length > cursor_.left()) return RefuseGguf("ends inside a text", cursor_.position());
  if (!keep || *length > kMaxKeptText) {
    const absl::Status skipped = cursor_.Skip(*length, "a text");
    if (!skipped.ok()) return skipped;
    return Json();
  }
  std::string text(*length, '\0');
  const absl::Status read = cursor_.Read(text.data(), *length, "a text");
  if (!read.ok()) return read;
  return Json(std::move(text));
}

absl::StatusOr<Json> HeadReader::ReadList(bool keep, int depth) {
  if (depth == kMaxListDepth) return RefuseGguf("has lists inside lists, too deep", cursor_.position());
  const absl::StatusOr<uint32_t> type_number = cursor_.Number<uint32_t>("a list's type");
  if (!type_number.ok()) return type_number.status();
  const absl::StatusOr<uint64_t> count = cursor_.Number<uint64_t>("a list's length");
  if (!count.ok()) return count.status();
  const auto type = static_cast<ValueType>(*type_number);
  // Every entry takes a byte at least, so that a count beyond the file is refused before any work.
  if (*count > cursor_.left()) return RefuseGguf("ends inside a list", cursor_.position());
  const uint64_t size = SizeOf(type);
  const bool kept = keep && size != 0 && *count <= kMaxKeptList && kept_values_ + *count <= kMaxKeptValues;
  if (!kept && size != 0) {
    if (*count > cursor_.left() / size) return RefuseGguf("ends inside a list", cursor_.position());
    const absl::Status skipped = cursor_.Skip(*count * size, "a list");
    if (!skipped.ok()) return skipped;
    return Json();
  }
  Json list = kept ? Json::array() : Json();
  for (uint64_t i = 0; i < *count; ++i) {
    absl::StatusOr<Json> entry = ReadValue(type, kept, depth + 1);
    if (!entry.ok()) return entry.status();
    if (kept) list.push_back(std::move(*entry));
  }
  if (kept) kept_values_ += *count;
  return list;
}

// Reads one tensor's entry and keeps it when it decides positions.
absl::Status HeadReader::ReadEntry() {
  TensorEntry entry;
  absl::StatusOr<std::string> name = cursor_.Text(kMaxNameBytes, "a tensor's name");
  if (!name.ok()) return name.status();
  const absl::StatusOr<uint32_t> dimensions = cursor_.Number<uint32_t>("a tensor's dimensions");
  if (!dimensions.ok()) return dimensions.status();
  if (*dimensions > kMaxDimensions) {
    return RefuseGguf(absl::StrCat("tensor ", Quote(*name), " has ", *dimensions,
                                   " dimensions; allowed: at most ", kMaxDimensions),
                      cursor_.position());
  }
  for (uint32_t i = 0; i < *dimensions; ++i) {
    const absl::StatusOr<uint64_t> side = cursor_.Number<uint64_t>("a tensor's shape");
    if (!side.ok()) return side.status();
    if (*side != 0 && entry.elements > kMaxElements / *side) {
      return RefuseGguf(absl::StrCat("tensor ", Quote(*name), " has too many elements"), cursor_.position());
    }
    entry.elements *= *side;
    entry.tensor.shape.push_back(static_cast<int64_t>(*side));
  }
  const absl::StatusOr<uint32_t> type = cursor_.Number<uint32_t>("a tensor's type");
  if (!type.ok()) return type.status();
  const absl::StatusOr<uint64_t> offset = cursor_.Number<uint64_t>("a tensor's offset");
  if (!offset.ok()) return offset.status();
  last_offset_ = std::max(last_offset_, *offset);
  const bool rope =
      std::find(std::begin(kRopeTensors), std::end(kRopeTensors), *name) != std::end(kRopeTensors);
  if (!rope && *name != kPositionTensor) return absl::OkStatus();
  for (const TensorEntry& other : entries_) {
    if (other.tensor.name != *name) continue;
    return RefuseGguf(absl::StrCat("has the tensor ", Quote(*name), " twice"), cursor_.position());
  }
  entry.tensor.name = std::move(*name);
  entry.type = *type;
  entry.offset = *offset;
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Alignment(const Json& metadata) {
  const auto found = metadata.find("general.alignment");
  if (found == metadata.end()) return kDefaultAlignment;
  if (found->is_number_unsigned() && found->get<uint64_t>() >= 1 && found->get<uint64_t>() <= (1 << 20)) {
    return found->get<uint64_t>();
  }
  return absl::InvalidArgumentError(absl::StrCat("GGUF file: general.alignment is ", Describe(*found),
                                                 "; allowed: 1 to 1048576"));
}

// Reads the numbers of the rope tensors, which lie behind the head.
absl::Status HeadReader::ReadData() {
  const absl::StatusOr<uint64_t> alignment = Alignment(file_.metadata);
  if (!alignment.ok()) return alignment.status();
  const uint64_t start = (cursor_.position() + *alignment - 1) / *alignment * *alignment;
  const uint64_t end = cursor_.position() + cursor_.left();
  const bool truncated = tensors_ > 0 && (start > end || last_offset_ > end - start);
  if (truncated) return RefuseGguf("ends before its last tensor", end);
  for (TensorEntry& entry : entries_) {
    if (entry.tensor.name != kPositionTensor) {
      const bool fits = entry.type == kTypeF32 && entry.elements <= kMaxPairs;
      if (!fits) {
        return RefuseGguf(absl::StrCat("tensor ", Quote(entry.tensor.name), " has type ", entry.type, " and ",
                                   entry.elements, " elements; allowed: F32, at most ", kMaxPairs), start);
      }
      std::vector<float> values(entry.elements);
      const uint64_t bytes = entry.elements * sizeof(float);
      if (bytes > end - start - entry.offset) {
        return RefuseGguf(absl::StrCat("ends inside ", entry.tensor.name), end);
      }
      absl::Status status = cursor_.Seek(start + entry.offset);
      if (status.ok()) status = cursor_.Read(values.data(), bytes, entry.tensor.name);
      if (!status.ok()) return status;
      entry.tensor.values.assign(values.begin(), values.end());
    }
    file_.tensors.push_back(std::move(entry.tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<GgufFile> HeadReader::Read() {
  absl::Status status = ReadCounts();
  for (uint64_t i = 0; i < keys_ && status.ok(); ++i) status = ReadKey();
  for (uint64_t i = 0; i < tensors_ && status.ok(); ++i) status = ReadEntry();
  if (status.ok()) status = ReadData();
  if (!status.ok()) return status;
  return std::move(file_);
}

}  // namespace

absl::StatusOr<GgufFile> ReadGguf(std::istream& stream, uint64_t size_bytes) {
  return HeadReader(stream, size_bytes).Read();
}

absl::StatusOr<GgufFile> ReadGguf(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream) return absl::NotFoundError("GGUF file: cannot be opened");
  const std::streamoff size_bytes = stream.tellg();
  if (size_bytes < 0) return absl::NotFoundError("GGUF file: is no file that has a size");
  stream.seekg(0);
  return ReadGguf(stream, static_cast<uint64_t>(size_bytes));
}

std::string GgufToJson(const GgufFile& file) {
  Json tensors = Json::object();
  for (const GgufTensor& tensor : file.tensors) {
    Json& out = tensors[tensor.name];
    out["shape"] = tensor.shape;
    if (tensor.values.empty()) continue;
    out["values"] = Json::array();
    for (const double value : tensor.values) out["values"].push_back(FloatJson(value));
  }
  const Json whole = {{"metadata", file.metadata}, {"tensors", tensors}};
  // Texts of the file may be anything; what is not UTF-8 is replaced.
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace posenc

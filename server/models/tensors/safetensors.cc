// ParseSafetensors of tensor_file.h.

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/models/config/config_json.h"
#include "server/models/tensors/tensor_bytes.h"
#include "server/models/tensors/tensor_file.h"

namespace posenc {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as the format's own reader
constexpr int kMaxDepth = 4;                       // a shape inside an entry is at 2

// Types of the format; those that we do not read still have a size to check.
struct Type {
  absl::string_view name;
  uint64_t bytes;
  ElementType element_type = ElementType::kUnspecified;
};
constexpr Type kTypes[] = {
    {"F64", 8, ElementType::kF64}, {"F32", 4, ElementType::kF32},       {"F16", 2, ElementType::kF16},
    {"BF16", 2, ElementType::kBF16}, {"I32", 4, ElementType::kI32},     {"C64", 8, ElementType::kComplex64},
    {"I64", 8},  {"U64", 8}, {"U32", 4}, {"I16", 2}, {"U16", 2}, {"I8", 1}, {"U8", 1}, {"BOOL", 1},
    {"F8_E4M3", 1}, {"F8_E5M2", 1}};

// Looks for what makes a header unreadable before it is built. (A callback of the parser could as well, in
// time that grows with the square of the tensors.)
class HeaderScan final : public nlohmann::json_sax<Json> {
 public:
  const std::string& twice() const { return twice_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return ++depth_ <= kMaxDepth; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(size_t) override { return ++depth_ <= kMaxDepth; }
  bool end_array() override { return --depth_ >= 0; }
  bool key(string_t& name) override {
    if (depth_ == 1 && !names_.insert(name).second) twice_ = name;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  std::unordered_set<std::string> names_;
  std::string twice_;
  int depth_ = 0;
};

// Parses the header. A name that stands twice could be read in two ways, and deep nesting is an attack.
absl::StatusOr<Json> ParseHeader(absl::string_view text) {
  HeaderScan scan;
  const bool readable = Json::sax_parse(text.begin(), text.end(), &scan);
  Json header = readable ? Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false) : Json();
  if (!header.is_object()) return absl::InvalidArgumentError("the header is no JSON object of tensors");
  if (!scan.twice().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("tensor ", Quote(scan.twice()), " is there twice"));
  }
  return header;
}

// Reads a list of whole numbers from 0, or nothing.
std::optional<std::vector<int64_t>> Naturals(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Json& item : *found) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > INT64_MAX) return std::nullopt;
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

absl::StatusOr<TensorEntry> ReadEntry(const std::string& name, const Json& json, uint64_t data_begin,
                                      uint64_t data_bytes) {
  const auto refuse = [&](auto... parts) {
    return absl::InvalidArgumentError(absl::StrCat("tensor ", Quote(name), " ", parts...));
  };
  if (!json.is_object()) return refuse("is ", Describe(json), " in the header; allowed: an object");
  const auto dtype = json.find("dtype");
  if (dtype == json.end() || !dtype->is_string()) return refuse("has no dtype");
  const auto shape = Naturals(json, "shape");
  if (!shape) return refuse("has no shape; allowed: a list of whole numbers from 0");
  const auto offsets = Naturals(json, "data_offsets");
  if (!offsets || offsets->size() != 2) return refuse("has no data_offsets; allowed: [begin, end]");
  const auto begin = static_cast<uint64_t>((*offsets)[0]), end = static_cast<uint64_t>((*offsets)[1]);
  if (end < begin) return refuse("ends at ", end, ", before its begin at ", begin);
  if (end > data_bytes) return refuse("ends at ", end, " of ", data_bytes, " bytes of data");
  TensorEntry entry{.name = name, .dtype = dtype->get<std::string>(), .shape = *shape,
                    .begin = data_begin + begin, .size_bytes = end - begin};
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const Type& each) { return each.name == entry.dtype; });
  if (type == std::end(kTypes)) return entry;
  entry.element_type = type->element_type;
  if (TensorBytes(*shape, type->bytes) != entry.size_bytes) {
    return refuse("has ", entry.size_bytes, " bytes, not those of ", entry.dtype, " [",
                  absl::StrJoin(*shape, ", "), "]");
  }
  return entry;
}

}  // namespace

absl::StatusOr<std::vector<TensorEntry>> ParseSafetensors(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) return absl::InvalidArgumentError("is cut off before its header");
  const uint64_t header_bytes = LittleEndian(file, kLengthBytes);
  const uint64_t rest = file.size() - kLengthBytes;
  if (header_bytes > kMaxHeaderBytes || header_bytes > rest) {
    return absl::InvalidArgumentError(absl::StrCat("has a header of ", header_bytes, " bytes; allowed: at most ",
                                                   std::min(kMaxHeaderBytes, rest), " in this file"));
  }
  const absl::StatusOr<Json> header = ParseHeader(AsText(file.subspan(kLengthBytes, header_bytes)));
  if (!header.ok()) return header.status();
  std::vector<TensorEntry> tensors;
  for (const auto& [name, json] : header->items()) {
    if (name == "__metadata__") continue;
    auto entry = ReadEntry(name, json, kLengthBytes + header_bytes, rest - header_bytes);
    if (!entry.ok()) return entry.status();
    tensors.push_back(*std::move(entry));
  }
  return tensors;
}

}  // namespace posenc

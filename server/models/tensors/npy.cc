// ParseNpy of tensor_file.h.

#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/models/config/config_json.h"
#include "server/models/tensors/tensor_bytes.h"
#include "server/models/tensors/tensor_file.h"

namespace posenc {
namespace {

constexpr absl::string_view kMagic = "\x93NUMPY";
constexpr size_t kVersionBytes = 2;

struct Type {
  absl::string_view descr;
  ElementType element_type;
};
constexpr Type kTypes[] = {{"<f8", ElementType::kF64},        {"<f4", ElementType::kF32},
                           {"<f2", ElementType::kF16},        {"<V2", ElementType::kBF16},
                           {"|V2", ElementType::kBF16},       {"bfloat16", ElementType::kBF16},
                           {"<i4", ElementType::kI32},        {"<c8", ElementType::kComplex64},
                           {"<c16", ElementType::kComplex128}};

// The three values of a header, a Python literal such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads the literal from the left; every method returns false where the text does not go on as it must.
class Literal {
 public:
  explicit Literal(absl::string_view text) : text_(text) {}

  bool Read(Header& header) {
    std::set<std::string> keys;
    if (!Take('{')) return false;
    while (!Take('}')) {
      std::string key;
      if (!String(key) || !Take(':') || !Value(key, header) || !keys.insert(key).second) return false;
      if (!Take(',') && !Peek('}')) return false;
    }
    return keys.size() == 3 && absl::StripAsciiWhitespace(text_).empty();
  }

 private:
  bool Peek(char c) {
    text_ = absl::StripLeadingAsciiWhitespace(text_);
    return absl::StartsWith(text_, absl::string_view(&c, 1));
  }
  bool Take(char c) {
    if (!Peek(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool Take(absl::string_view word) {
    text_ = absl::StripLeadingAsciiWhitespace(text_);
    if (!absl::StartsWith(text_, word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool String(std::string& value) {
    const char quote = Peek('"') ? '"' : '\'';
    if (!Take(quote)) return false;
    const size_t end = text_.find(quote);
    if (end == absl::string_view::npos) return false;
    value = std::string(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return true;
  }
  bool Natural(int64_t& value) {
    size_t digits = 0;
    text_ = absl::StripLeadingAsciiWhitespace(text_);
    while (digits < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[digits]))) ++digits;
    if (!absl::SimpleAtoi(text_.substr(0, digits), &value)) return false;
    text_.remove_prefix(digits);
    return true;
  }
  bool Tuple(std::vector<int64_t>& values) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      if (!Natural(values.emplace_back())) return false;
      if (!Take(',') && (values.size() == 1 || !Peek(')'))) return false;
    }
    return true;
  }
  bool Value(const std::string& key, Header& header) {
    if (key == "descr") return String(header.descr);
    if (key == "shape") return Tuple(header.shape);
    if (key != "fortran_order") return false;
    header.fortran_order = Take("True");
    return header.fortran_order || Take("False");
  }

  absl::string_view text_;
};

}  // namespace

absl::StatusOr<std::vector<TensorEntry>> ParseNpy(std::span<const std::byte> file) {
  const size_t prefix = kMagic.size() + kVersionBytes;
  if (file.size() < prefix || !absl::StartsWith(AsText(file), kMagic)) {
    return absl::InvalidArgumentError("is no .npy file: it does not begin with \\x93NUMPY and a version");
  }
  const int major = static_cast<int>(file[kMagic.size()]);
  if (major < 1 || major > 3) {
    return absl::InvalidArgumentError(absl::StrCat("is of version ", major, "; allowed: 1, 2, 3"));
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (file.size() < prefix + length_bytes) return absl::InvalidArgumentError("is cut off before its header");
  const uint64_t header_bytes = LittleEndian(file.subspan(prefix), length_bytes);
  const uint64_t rest = file.size() - prefix - length_bytes;
  if (header_bytes > rest) {
    return absl::InvalidArgumentError(
        absl::StrCat("has a header of ", header_bytes, " bytes; allowed: at most ", rest, " in this file"));
  }
  Header header;
  if (!Literal(AsText(file.subspan(prefix + length_bytes, header_bytes))).Read(header)) {
    return absl::InvalidArgumentError("has a header that is not {'descr', 'fortran_order', 'shape'}");
  }
  if (header.fortran_order) {
    return absl::InvalidArgumentError("is in Fortran order; allowed: C order (numpy.ascontiguousarray)");
  }
  TensorEntry entry{.dtype = header.descr, .shape = header.shape,
                    .begin = prefix + length_bytes + header_bytes, .size_bytes = rest - header_bytes};
  for (const Type& type : kTypes) {
    if (type.descr == header.descr) entry.element_type = type.element_type;
  }
  if (entry.element_type == ElementType::kUnspecified) return std::vector{std::move(entry)};
  if (TensorBytes(entry.shape, ElementSizeBytes(entry.element_type)) != entry.size_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("has ", entry.size_bytes, " bytes of data, not those of ",
                                                   Quote(header.descr), " [", absl::StrJoin(entry.shape, ", "),
                                                   "]"));
  }
  return std::vector{std::move(entry)};
}

}  // namespace posenc

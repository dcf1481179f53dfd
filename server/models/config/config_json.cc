#include "server/models/config/config_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/limits.h"
#include "server/core/violations.h"

namespace posenc {
namespace {

// A message lists up to ten violations and must stay under 2 KiB.
constexpr size_t kMaxQuoted = 40;

std::string Shorten(absl::string_view text) {
  if (text.size() <= kMaxQuoted) return absl::CHexEscape(text);
  return absl::StrCat(absl::CHexEscape(text.substr(0, kMaxQuoted)), "...");
}

// The reason inside a message of the parser, without its own prefix "[json.exception...]".
std::string ParserReason(absl::string_view message) {
  const size_t prefix = message.find("] ");
  if (prefix != absl::string_view::npos) message.remove_prefix(prefix + 2);
  constexpr size_t kMaxReason = 160;
  return absl::CHexEscape(message.substr(0, kMaxReason));
}

// A text in which Python's names of numbers are texts of the same length, so that every other place keeps its
// line and column, and which of its texts, keys included, stand for a number.
struct PlainText {
  std::string text;
  std::map<size_t, double> numbers;
};

struct NumberName {
  absl::string_view name;
  double value;
};
constexpr NumberName kNumberNames[] = {{"NaN", std::numeric_limits<double>::quiet_NaN()},
                                       {"Infinity", std::numeric_limits<double>::infinity()},
                                       {"-Infinity", -std::numeric_limits<double>::infinity()}};

// Returns the end of the text that opens at `begin`, one beyond its closing quote.
size_t EndOfText(absl::string_view text, size_t begin) {
  size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

PlainText WithoutNumberNames(absl::string_view text) {
  PlainText plain = {std::string(text), {}};
  size_t texts = 0;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = EndOfText(text, at);
      ++texts;
      continue;
    }
    size_t length = 1;
    for (const NumberName& number : kNumberNames) {
      if (!absl::StartsWith(text.substr(at), number.name)) continue;
      length = number.name.size();
      plain.text.replace(at, length, absl::StrCat("\"", std::string(length - 2, '-'), "\""));
      plain.numbers[texts++] = number.value;
      break;
    }
    at += length;
  }
  return plain;
}

// Builds the document from the parser's events and stops it at the first thing that is not allowed.
class DocumentBuilder : public nlohmann::json_sax<Json> {
 public:
  // `numbers` are the texts that stand for one, by their order in the document.
  explicit DocumentBuilder(const std::map<size_t, double>& numbers) : numbers_(numbers) {}

  bool null() override { return Place(nullptr); }
  bool boolean(bool value) override { return Place(value); }
  bool number_integer(number_integer_t value) override { return Place(value); }
  bool number_unsigned(number_unsigned_t value) override { return Place(value); }
  bool number_float(number_float_t value, const string_t&) override { return Place(value); }
  bool string(string_t& value) override;
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override;
  bool parse_error(size_t, const std::string&, const Json::exception& error) override;

  absl::StatusOr<Json> Result() &&;

 private:
  // An object or list that is open, and the key under which its next value goes.
  struct Frame {
    Json* node;
    std::string key;
  };

  // Puts a value where the document stands; returns null when a key is there already.
  Json* Insert(Json value);
  bool Place(Json value) { return Insert(std::move(value)) != nullptr; }
  bool Open(Json container);
  bool Close();
  bool Refuse(std::string description);
  // The number that the next text stands for, or null.
  const double* NextNumber();
  std::string Path() const;

  const std::map<size_t, double>& numbers_;
  size_t texts_ = 0;
  Json root_;
  std::vector<Frame> open_;
  Violations violations_;
};

const double* DocumentBuilder::NextNumber() {
  const auto found = numbers_.find(texts_++);
  return found == numbers_.end() ? nullptr : &found->second;
}

bool DocumentBuilder::string(string_t& value) {
  if (const double* number = NextNumber()) return Place(*number);
  return Place(std::move(value));
}

bool DocumentBuilder::key(string_t& name) {
  if (NextNumber() != nullptr) return Refuse("is not JSON: a number stands where a key belongs");
  Frame& frame = open_.back();
  frame.key = std::move(name);
  return !frame.node->contains(frame.key) || Refuse("is there twice; allowed: once");
}

bool DocumentBuilder::parse_error(size_t, const std::string&, const Json::exception& error) {
  return Refuse(absl::StrCat("is not JSON: ", ParserReason(error.what())));
}

Json* DocumentBuilder::Insert(Json value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return &root_;
  }
  Frame& frame = open_.back();
  if (frame.node->is_array()) {
    frame.node->push_back(std::move(value));
    return &frame.node->back();
  }
  return &((*frame.node)[frame.key] = std::move(value));
}

bool DocumentBuilder::Open(Json container) {
  if (open_.size() == kMaxConfigDepth) {
    return Refuse(absl::StrCat("is nested too deep; allowed: ", kMaxConfigDepth, " levels"));
  }
  open_.push_back({Insert(std::move(container)), ""});
  return true;
}

bool DocumentBuilder::Close() {
  open_.pop_back();
  return true;
}

bool DocumentBuilder::Refuse(std::string description) {
  violations_.AddText(Path(), std::move(description));
  return false;
}

// A path long enough to find the place; what is deeper than that is cut.
std::string DocumentBuilder::Path() const {
  constexpr size_t kShownLevels = 6;
  std::string path;
  for (size_t i = 0; i < open_.size() && i < kShownLevels; ++i) {
    const Frame& frame = open_[i];
    if (frame.node->is_array()) {
      // The innermost list has not got the value in question yet, the others have the one that is open.
      const size_t index = frame.node->size() - (i + 1 < open_.size() ? 1 : 0);
      absl::StrAppend(&path, "[", index, "]");
    } else if (!frame.key.empty()) {
      absl::StrAppend(&path, path.empty() ? "" : ".", PathPart(frame.key));
    }
  }
  return path.empty() ? std::string(kWholeConfig) : path;
}

absl::StatusOr<Json> DocumentBuilder::Result() && {
  if (!violations_.empty()) return violations_.ToStatus();
  return std::move(root_);
}

absl::Status RefuseWhole(std::string description) {
  Violations violations;
  violations.AddText(kWholeConfig, std::move(description));
  return violations.ToStatus();
}

}  // namespace

absl::StatusOr<Json> ParseConfigJson(absl::string_view text) {
  if (text.size() > limits::kMaxRequestBytes) {
    return RefuseWhole(absl::StrCat("has ", text.size(), " bytes; allowed: at most ",
                                    limits::kMaxRequestBytes));
  }
  const PlainText plain = WithoutNumberNames(text);
  DocumentBuilder builder(plain.numbers);
  Json::sax_parse(plain.text, &builder);
  absl::StatusOr<Json> document = std::move(builder).Result();
  if (document.ok() && !document->is_object()) {
    return RefuseWhole(absl::StrCat("is ", Describe(*document), "; allowed: a JSON object"));
  }
  return document;
}

std::string Quote(absl::string_view text) { return absl::StrCat("\"", Shorten(text), "\""); }

std::string PathPart(absl::string_view key) {
  for (const char c : key) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') {
      return Quote(key);
    }
  }
  return key.empty() ? Quote(key) : Shorten(key);
}

std::string Describe(const Json& value) {
  if (value.is_string()) return Quote(value.get_ref<const std::string&>());
  if (value.is_array()) return absl::StrCat("a list of ", value.size());
  if (value.is_object()) return "an object";
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const double number = value.get<double>();
    return absl::StrCat(std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity",
                        ", which is not JSON");
  }
  return value.dump();
}

}  // namespace posenc

// Turns the text of a config.json into a JSON document, whatever the text is.
//
// The text comes from strangers: its size and its nesting are bounded before anything is built, numbers
// beyond a double and repeated keys are refused with the place, and no exception leaves. What Python's json
// writes besides JSON, Infinity, -Infinity and NaN, is read as such a double wherever a value may stand; a
// reader that wants a number refuses it there.
// Pure functions, safe from any thread.

#ifndef POSENC_SERVER_MODELS_CONFIG_CONFIG_JSON_H_
#define POSENC_SERVER_MODELS_CONFIG_CONFIG_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace posenc {

using Json = nlohmann::json;

// Objects and lists inside each other. Real files have about five levels.
inline constexpr size_t kMaxConfigDepth = 64;

// The path of violations that concern the text as a whole.
inline constexpr absl::string_view kWholeConfig = "config_json";

// Parses `text` as one JSON object.
// Errors: InvalidArgument for text that is not such JSON (with line, column and reason), not an object, longer
// than kMaxRequestBytes, nested deeper than kMaxConfigDepth, or with a key twice in one object.
absl::StatusOr<Json> ParseConfigJson(absl::string_view text);

// Returns `text` in double quotes, escaped and shortened to what a message can carry.
std::string Quote(absl::string_view text);

// Returns a key of the file as part of a path: as it is when it is plain, escaped and shortened otherwise.
std::string PathPart(absl::string_view key);

// Returns a value as a message shows it: scalars as text, "a list of 3", "an object".
std::string Describe(const Json& value);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_CONFIG_CONFIG_JSON_H_

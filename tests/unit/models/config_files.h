// What the tests of server/models share: the golden configuration files, and short ways to ask about them.

#ifndef POSENC_TESTS_UNIT_MODELS_CONFIG_FILES_H_
#define POSENC_TESTS_UNIT_MODELS_CONFIG_FILES_H_

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/models/model_config.h"

namespace posenc {

// Folders of tests/golden/configs, in order of name.
inline std::vector<std::string> GoldenConfigIds() {
  std::vector<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator(POSENC_TEST_SOURCE_DIR "/golden/configs")) {
    if (entry.is_directory()) ids.push_back(entry.path().filename().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

inline std::string ReadGolden(const std::string& id, const std::string& file) {
  std::ifstream stream(std::string(POSENC_TEST_SOURCE_DIR "/golden/configs/") + id + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline nlohmann::json GoldenConfig(const std::string& id) {
  return nlohmann::json::parse(ReadGolden(id, "config.json"));
}

inline nlohmann::json GoldenExpectation(const std::string& id) {
  return nlohmann::json::parse(ReadGolden(id, "expected.json"));
}

// A test's name for the config `info` is about.
inline std::string GoldenTestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// The rotary spec of the first table; the config must resolve to one.
inline RopeSpec RopeOf(const absl::StatusOr<ModelTables>& model) {
  return std::get<RopeSpec>(model.value().tables.at(0).spec.family);
}

inline AlibiSpec AlibiOf(const absl::StatusOr<ModelTables>& model) {
  return std::get<AlibiSpec>(model.value().tables.at(0).spec.family);
}

// Where the first table's `field` came from; an empty origin when it is not recorded.
inline ValueOrigin OriginOf(const absl::StatusOr<ModelTables>& model, const std::string& field) {
  for (const ValueOrigin& origin : model.value().tables.at(0).origins) {
    if (origin.field == field) return origin;
  }
  return {};
}

inline bool HasNote(const absl::StatusOr<ModelTables>& model, const std::string& part) {
  for (const std::string& note : model.value().notes) {
    if (absl::StrContains(note, part)) return true;
  }
  return false;
}

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_MODELS_CONFIG_FILES_H_

// Messages from text literals.

#ifndef POSENC_TESTS_SUPPORT_TEXT_PROTO_H_
#define POSENC_TESTS_SUPPORT_TEXT_PROTO_H_

#include <google/protobuf/text_format.h>

#include <string>

#include "gtest/gtest.h"

namespace posenc {

// Parses a text proto; a text that does not parse fails the test.
template <typename Message>
Message ParseText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

}  // namespace posenc

#endif  // POSENC_TESTS_SUPPORT_TEXT_PROTO_H_

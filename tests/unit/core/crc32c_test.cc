#include "server/core/crc32c.h"

#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace posenc {
namespace {

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string Counting(int first, int step) {
  std::string text(32, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(first + step * int(i));
  return text;
}

TEST(Crc32cTest, HasTheValuesOfRfc3720) {
  EXPECT_EQ(ExtendCrc32c(0, BytesOf(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(ExtendCrc32c(0, BytesOf(std::string(32, '\xff'))), 0x62a8ab43u);
  EXPECT_EQ(ExtendCrc32c(0, BytesOf(Counting(0, 1))), 0x46dd794eu);
  EXPECT_EQ(ExtendCrc32c(0, BytesOf(Counting(31, -1))), 0x113fdb5cu);
}

TEST(Crc32cTest, HasTheValueOfTheRfcsReadCommand) {
  constexpr std::array<unsigned char, 48> kCommand = {
      0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18,
      0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  EXPECT_EQ(ExtendCrc32c(0, std::as_bytes(std::span(kCommand))), 0xd9963a56u);
}

TEST(Crc32cTest, HasTheCheckValueOfTheCatalogue) {
  EXPECT_EQ(ExtendCrc32c(0, BytesOf("123456789")), 0xe3069283u);
}

TEST(Crc32cTest, OfNothingIsTheValueBefore) {
  EXPECT_EQ(ExtendCrc32c(0, {}), 0u);
  EXPECT_EQ(ExtendCrc32c(0xe3069283u, {}), 0xe3069283u);
}

TEST(Crc32cTest, OfEverySplitIsThatOfTheWhole) {
  const std::string text = Counting(3, 7) + Counting(200, 3);
  const auto bytes = BytesOf(text);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const uint32_t head = ExtendCrc32c(0, bytes.first(cut));
    EXPECT_EQ(ExtendCrc32c(head, bytes.subspan(cut)), ExtendCrc32c(0, bytes)) << cut;
  }
}

TEST(Crc32cTest, DoesNotDependOnAlignment) {
  const std::string text = Counting(1, 5);
  for (size_t shift = 0; shift < 16; ++shift) {
    const std::string shifted = std::string(shift, 'x') + text;
    EXPECT_EQ(ExtendCrc32c(0, BytesOf(shifted).subspan(shift)), ExtendCrc32c(0, BytesOf(text)));
  }
}

}  // namespace
}  // namespace posenc

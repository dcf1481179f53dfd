// The texts of the command-line program: numbers, formats, flags' values.

#include <charconv>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

#include "client/cli/flags/parse.h"
#include "client/cli/output/formats.h"
#include "client/cli/output/number_text.h"
#include "nlohmann/json.hpp"
#include "posenc/client.h"
#include "tests/support/matchers.h"

namespace posenc::cli {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <typename T>
std::string Text(T value) {
  return PartText(ElementTypeOf<T>, reinterpret_cast<const std::byte*>(&value));
}

double Value(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

TEST(NumberTextTest, IsTheShortest) {
  EXPECT_EQ(Text(0.1f), "0.1");
  EXPECT_EQ(Text(0.1), "0.1");
  EXPECT_EQ(Text(1.0f), "1");
  EXPECT_EQ(Text(-0.0f), "-0");
  EXPECT_EQ(Text(Half{0x3555}), "0.3333");
  EXPECT_EQ(Text(Half{0x7bff}), "65500");
  EXPECT_EQ(Text(Half{0x0001}), "6e-08");
  EXPECT_EQ(Text(BFloat16{0x3eab}), "0.334");
  EXPECT_EQ(Text(BFloat16{0xff80}), "-inf");
}

// Finds the 16-bit number nearest to a decimal by trying all, as a reader would round it.
template <typename Small>
uint16_t Nearest(double decimal, uint16_t around) {
  uint16_t best = around;
  for (int bits = std::max(around - 2, 0); bits <= around + 2; ++bits) {
    const auto distance = [&](int pattern) {
      return std::fabs(static_cast<float>(Small{static_cast<uint16_t>(pattern)}) - decimal);
    };
    if (distance(bits) < distance(best)) best = static_cast<uint16_t>(bits);
  }
  return best;
}

TEST(NumberTextTest, EveryHalfComesBack) {
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    ASSERT_EQ(Nearest<Half>(Value(Text(Half{pattern})), pattern), bits) << Text(Half{pattern});
  }
}

TEST(NumberTextTest, EveryBFloat16ComesBack) {
  for (int bits = 0; bits < 0x7f80; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    ASSERT_EQ(Nearest<BFloat16>(Value(Text(BFloat16{pattern})), pattern), bits) << Text(BFloat16{pattern});
  }
}

TEST(NumberTextTest, FloatsAndDoublesComeBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto single = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const auto wide = std::bit_cast<double>(random());
    if (std::isfinite(single)) {
      ASSERT_EQ(static_cast<float>(Value(Text(single))), single);
    }
    if (std::isfinite(wide)) {
      ASSERT_EQ(Value(Text(wide)), wide);
    }
  }
}

// Prints slices of tables that this process computes.
class FormatsTest : public ::testing::Test {
 protected:
  void Use(const TableSpec& spec, const Selection& selection = {}) {
    table_ = *Client(MakeLocalConnection()).Slice(spec, selection);
    const auto shape = table_.tensors().front().shape;
    names_ = NameRows(spec, selection, {shape.begin(), shape.begin() + RowRank(spec)});
  }
  std::string Json() const { return Written([&](std::ostream& out) { WriteJson(table_, out); }); }
  std::string Csv() const { return Written([&](std::ostream& out) { WriteCsv(table_, names_, out); }); }
  std::string Npy() const {
    return Written([&](std::ostream& out) { WriteNpy(table_, table_.tensors().front(), out); });
  }
  std::string Human(const TextLayout& layout = {}) const {
    return Written([&](std::ostream& out) { WriteTable(table_, names_, layout, out); });
  }

  static std::string Written(const std::function<void(std::ostream&)>& write) {
    std::ostringstream out;
    write(out);
    return out.str();
  }

  Table table_;
  RowNames names_;
};

TEST_F(FormatsTest, JsonIsNestedAsTheShape) {
  Use({Alibi{.heads = 2, .max_len = 3, .masked = true}}, {.rows = Range{1, 3}});
  const auto json = nlohmann::json::parse(Json());
  EXPECT_EQ(json["key"], table_.key());
  EXPECT_EQ(json["tensors"][0]["shape"], (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(json["tensors"][0]["data"][0][0].dump(), R"([-0.0625,0,"-Infinity"])");
}

TEST_F(FormatsTest, JsonWritesComplexNumbersAsPairs) {
  Use({Rope{.head_dim = 2, .layout = RopeLayout::kComplex}}, {.rows = Range{0, 1}});
  EXPECT_THAT(Json(), HasSubstr(R"("element_type":"C64","shape":[1,1],"data":[[[1,0]]])"));
}

// A JSON reader takes -0 for the integer, which has no sign. The keys' sines of position −1000 are below every float.
TEST_F(FormatsTest, JsonKeepsTheSignOfZero) {
  Use({Rope{.head_dim = 2, .max_len = 1001, .xpos = XPos{.scale_base = 1, .centre = 0}}}, {.positions = {-1000, 1000}});
  EXPECT_THAT(Json(), HasSubstr(R"("k_cos","element_type":"F32","shape":[2,1],"data":[[0],["Infinity"]])"));
  EXPECT_THAT(Json(), HasSubstr(R"("k_sin","element_type":"F32","shape":[2,1],"data":[[-0.0],["Infinity"]])"));
}

TEST_F(FormatsTest, JsonOfNothingIsAnEmptyList) {
  Use({Sinusoidal{.d_model = 2}}, {.rows = Range{3, 3}});
  EXPECT_THAT(Json(), HasSubstr(R"("shape":[0,2],"data":[])"));
}

TEST_F(FormatsTest, CsvNamesRowsAndColumns) {
  Use({Rope{.head_dim = 4}}, {.positions = {0, -1}, .columns = Range{1, 2}});
  EXPECT_EQ(Csv(), "position,cos_1,sin_1\n0,1,0\n-1,0.99995,-0.009999833\n");
  Use({Alibi{.heads = 2, .max_len = 3}}, {.rows = Range{2, 3}, .keys = Range{1, 3}});
  EXPECT_THAT(Csv(), StartsWith("head,query,bias_1,bias_2\n0,2,-0.0625,0\n1,2,"));
}

TEST_F(FormatsTest, NpyHeaderIsVersionOneAndAligned) {
  Use({Sinusoidal{.d_model = 2}}, {.rows = Range{0, 3}});
  const std::string npy = Npy();
  EXPECT_THAT(npy, StartsWith(std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                              "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"));
  EXPECT_EQ(npy.size(), 128 + 24);
  EXPECT_EQ(npy[127], '\n');
}

TEST_F(FormatsTest, NpyNamesEveryElementType) {
  for (const auto& [type, name] : {std::pair{ElementType::kF64, "'<f8'"}, {ElementType::kF16, "'<f2'"},
                                   {ElementType::kBF16, "'<V2'"}}) {
    Use({Sinusoidal{.d_model = 2}, type}, {.rows = Range{0, 1}});
    EXPECT_THAT(Npy(), HasSubstr(name));
  }
  Use({Alibi{.heads = 2, .form = AlibiForm::kSlopes}});
  EXPECT_THAT(Npy(), HasSubstr("'shape': (2,), }"));
}

TEST_F(FormatsTest, TableShowsShapeAndRange) {
  Use({Sinusoidal{.d_model = 4}}, {.rows = Range{0, 2}});
  EXPECT_EQ(Human(),
            "table [2, 4] F32  range [0, 1]\n"
            "  row       0       1       2       3\n"
            "    0  0.0000  1.0000  0.0000  1.0000\n"
            "    1  0.8415  0.5403  0.0100  0.9999\n");
}

TEST_F(FormatsTest, TableLeavesOutTheMiddle) {
  Use({Sinusoidal{.d_model = 512}});
  const std::string text = Human({.width_columns = 80});
  EXPECT_THAT(text, StartsWith("table [5000, 512] F32  range [-1, 1]\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 23);
  EXPECT_LE(text.find('\n', 40) - text.find('\n'), 81);
  EXPECT_THAT(text, HasSubstr(" ...\n"));
}

TEST_F(FormatsTest, FullTableLeavesOutNothing) {
  Use({Sinusoidal{.d_model = 512}}, {.rows = Range{0, 50}});
  EXPECT_THAT(Human({.full = true}), ::testing::Not(HasSubstr("...")));
}

TEST_F(FormatsTest, EmptyTableSaysSo) {
  Use({Sinusoidal{.d_model = 4}}, {.rows = Range{2, 2}});
  EXPECT_EQ(Human(), "table [0, 4] F32  empty\n");
}

TEST(ParseTest, Ranges) {
  const auto range = [](const char* text) {
    const auto parsed = ParseRange(text);
    return parsed.ok() ? std::pair(parsed->begin, parsed->end.value_or(-1)) : std::pair<int64_t, int64_t>(-9, -9);
  };
  EXPECT_EQ(range("2:5"), std::pair(2l, 5l));
  EXPECT_EQ(range("2:"), std::pair(2l, -1l));
  EXPECT_EQ(range(":5"), std::pair(0l, 5l));
  EXPECT_EQ(range(":"), std::pair(0l, -1l));
  EXPECT_EQ(range("7"), std::pair(7l, 8l));
  for (const char* wrong : {"", "a", "1:2:3", "1-2", "1 :2", "9223372036854775807", "99999999999999999999"}) {
    EXPECT_EQ(range(wrong), std::pair(-9l, -9l)) << wrong;
  }
}

TEST(ParseTest, Positions) {
  EXPECT_THAT(*ParsePositions("1,5,-3"), ElementsAre(1, 5, -3));
  for (const char* wrong : {"", "1,", ",1", "1,,2", "1.5", "x"}) {
    EXPECT_THAT(ParsePositions(wrong), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1,5,-3")));
  }
}

TEST(ParseTest, Integers) {
  EXPECT_EQ(*ParseInteger("010"), 10);
  EXPECT_EQ(*ParseInteger("-3"), -3);
  for (const char* wrong : {"", "0x10", "1.5", "1e3", " 1", "9223372036854775808"}) {
    EXPECT_THAT(ParseInteger(wrong), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("whole number")));
  }
}

TEST(ParseTest, Timeouts) {
  EXPECT_EQ(*ParseTimeout("2.5"), absl::Seconds(2.5));
  EXPECT_EQ(*ParseTimeout("500ms"), absl::Milliseconds(500));
  for (const char* wrong : {"0", "-1s", "nan", "soon", ""}) {
    EXPECT_THAT(ParseTimeout(wrong), StatusIs(absl::StatusCode::kInvalidArgument, _)) << wrong;
  }
}

TEST(ParseTest, FormatsByNameAndByFile) {
  EXPECT_EQ(*ParseFormat("npy"), Format::kNpy);
  EXPECT_FALSE(ParseFormat("xml").ok());
  EXPECT_EQ(FormatOfFile("a/x.csv"), Format::kCsv);
  EXPECT_EQ(FormatOfFile("x.bin"), Format::kRaw);
  EXPECT_EQ(FormatOfFile("x.txt"), Format::kTable);
}

}  // namespace
}  // namespace posenc::cli

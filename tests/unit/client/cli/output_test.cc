// Where the program's data go: formats by name, and files that are not what they seem.

#include <sys/stat.h>

#include <csignal>
#include <cstdlib>

#include "client/cli/output/output.h"
#include "nlohmann/json.hpp"
#include "tests/support/matchers.h"
#include "tests/unit/client/cli/fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kRow = "sinusoidal --d-model 2 --rows 0:1 --format csv --local -o ";
constexpr const char* kRowText = "row,table_0,table_1\n0,0,1\n";

class CliOutputTest : public CliTest {
 protected:
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().filename() != "stderr") names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }
};

TEST_F(CliOutputTest, FilesTakeTheirFormatFromTheirName) {
  EXPECT_EQ(Run("sinusoidal --d-model 4 --rows 0:2 --local -o " + Path("x.npy")).exit_code, 0);
  EXPECT_THAT(Read(Path("x.npy")), AllOf(StartsWith("\x93NUMPY"), HasSubstr("(2, 4)")));
  EXPECT_EQ(Run("sinusoidal --d-model 4 --rows 0:2 --local -o " + Path("x.json")).exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(Read(Path("x.json")))["tensors"][0]["data"][0].dump(), "[0,1,0,1]");
}

TEST_F(CliOutputTest, SeveralTensorsGiveSeveralNpyFiles) {
  const Result result = Run("rope --head-dim 4 --rows 0:2 --local -o " + Path("x.npy"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(Read(Path("x.cos.npy")).size(), 128 + 16);
  EXPECT_EQ(Read(Path("x.sin.npy")).size(), 128 + 16);
  EXPECT_THAT(result.err, HasSubstr("x.cos.npy"));
}

TEST_F(CliOutputTest, FailedWritingLeavesNothing) {
  const Result result = Run("sinusoidal --d-model 4 --local -o /no/such/folder/x.npy");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("/no/such/folder/x.npy: No such file or directory"));
}

TEST_F(CliOutputTest, RawIsTheBytesAlone) {
  const Result result = Run("rope --head-dim 2 --rows 0:1 --format raw --local");
  EXPECT_EQ(result.out, std::string("\0\0\x80\x3f\0\0\0\0", 8));
  EXPECT_THAT(result.err, HasSubstr("cos [1, 1] F32, little-endian, 4 bytes"));
}

TEST_F(CliOutputTest, OldFileGivesItsModeAndStaysWhenWritingFails) {
  const std::string path = Write("x.csv", "old");
  chmod(path.c_str(), 0640);
  EXPECT_EQ(Run("sinusoidal --d-model 3 --zero-row -5 --local -o " + path).exit_code, 64 + 3);
  EXPECT_EQ(Read(path), "old");
  EXPECT_EQ(Run(kRow + path).exit_code, 0);
  EXPECT_EQ(Read(path), kRowText);
  EXPECT_EQ(std::filesystem::status(path).permissions(), static_cast<std::filesystem::perms>(0640));
  EXPECT_THAT(Files(), ElementsAre("x.csv"));
}

TEST_F(CliOutputTest, PipeIsWrittenAsItIs) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  FILE* reader = popen(("cat " + Path("pipe")).c_str(), "r");
  EXPECT_EQ(Run(kRow + Path("pipe")).exit_code, 0);
  std::array<char, 64> buffer{};
  EXPECT_EQ(std::string(buffer.data(), fread(buffer.data(), 1, buffer.size(), reader)), kRowText);
  EXPECT_EQ(pclose(reader), 0);
  EXPECT_TRUE(std::filesystem::is_fifo(Path("pipe")));
}

TEST_F(CliOutputTest, LinksTargetIsReplaced) {
  std::filesystem::create_directory(Path("deep"));
  std::filesystem::create_symlink("deep/target", Path("link"));
  for (const char* old : {"absent", "present"}) {  // the link dangles at first
    EXPECT_EQ(Run(kRow + Path("link")).exit_code, 0) << old;
    EXPECT_TRUE(std::filesystem::is_symlink(Path("link"))) << old;
    EXPECT_EQ(Read(Path("deep/target")), kRowText) << old;
  }
  EXPECT_THAT(Files(), ElementsAre("deep", "link"));
}

TEST_F(CliOutputTest, LinksInACircleAreAnError) {
  std::filesystem::create_symlink("circle", Path("circle"));
  const Result result = Run(kRow + Path("circle"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("Too many levels of symbolic links"));
}

TEST_F(CliOutputTest, DevicesAreWrittenAsTheyAre) {
  EXPECT_EQ(Run(std::string(kRow) + "/dev/stdout").out, kRowText);
  EXPECT_EQ(Run(std::string(kRow) + "/dev/null").exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const std::string log = Write("log", "before\n");
  EXPECT_EQ(Run(std::string(kRow) + "/dev/stdout >>" + log).exit_code, 0);
  EXPECT_EQ(Read(log), std::string("before\n") + kRowText);
}

TEST_F(CliOutputTest, FullDeviceIsAnErrorWithItsReason) {
  for (const char* rows : {"0:1", "0:5000"}) {  // within the stream's buffer, and past it
    const std::string command =
        std::string("sinusoidal --d-model 64 --local --format raw --quiet --rows ") + rows;
    for (const char* where : {" -o /dev/full", " >/dev/full"}) {
      const Result result = Run(command + where);
      EXPECT_EQ(result.exit_code, 1) << rows << where;
      EXPECT_THAT(result.err, HasSubstr("No space left on device")) << rows << where;
    }
  }
}

TEST_F(CliOutputTest, UnwritableFolderIsAnErrorAndKeepsTheFile) {
  // Without the privilege that lets the superuser write everywhere.
  const std::string plain = geteuid() == 0 ? "setpriv --bounding-set=-dac_override" : "";
  const std::string path = Write("x.csv", "old");
  chmod(folder_.c_str(), 0500);
  const Result result = Run(kRow + path, plain);
  chmod(folder_.c_str(), 0700);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(Read(path), "old");
  EXPECT_THAT(Files(), ElementsAre("x.csv"));
}

TEST_F(CliOutputTest, SignalLeavesNothing) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto write_and_die = [&] {
      cli::Output output(Path("x"));
      output.stream() << "half" << std::flush;
      if (std::filesystem::is_empty(folder_)) std::exit(1);
      std::raise(signal);
    };
    EXPECT_EXIT(write_and_die(), ::testing::KilledBySignal(signal), "");
    EXPECT_THAT(Files(), IsEmpty());
  }
}

TEST_F(CliOutputTest, SeveralNpyFilesAreNotForADevice) {
  for (const char* device : {"/dev/stdout", "/dev/null"}) {
    EXPECT_EQ(Run(std::string("rope --head-dim 4 --local --format npy -o ") + device).exit_code, 2) << device;
    EXPECT_FALSE(std::filesystem::exists(std::string(device) + ".cos.npy"));
  }
}

TEST_F(CliOutputTest, FolderAsAFileIsAnError) {
  const Result result = Run(kRow + folder_.string());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("Is a directory"));
}

TEST_F(CliOutputTest, EndingIsLookedForAtTheEndAlone) {
  std::filesystem::create_directory(Path("runs.npy"));
  EXPECT_EQ(Run("rope --head-dim 4 --rows 0:1 --format npy --local -o " + Path("runs.npy/out")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("runs.npy/out.cos.npy")));
  EXPECT_TRUE(std::filesystem::exists(Path("runs.npy/out.sin.npy")));
}

TEST_F(CliOutputTest, NothingIsPrintedOfAHugeTableWithoutColumns) {
  const std::string nothing = "sinusoidal --d-model 2 --max-len 9007199254740992 --cols 0:0 --local --format ";
  EXPECT_THAT(Run(nothing + "json").out, HasSubstr(R"("shape":[9007199254740992,0],"data":[]})"));
  EXPECT_EQ(Run(nothing + "csv").out, "row\n");
  EXPECT_EQ(Run(nothing + "table --full").out, "table [9007199254740992, 0] F32  empty\n");
  EXPECT_THAT(Run(nothing + "npy").out, HasSubstr("'shape': (9007199254740992, 0), }"));
  EXPECT_THAT(Run(nothing + "raw").out, IsEmpty());
}

}  // namespace
}  // namespace posenc

#include "server/models/tensors/tensor_file.h"

#include <utility>

#include "tests/support/matchers.h"
#include "tests/unit/models/tensors/tensor_files.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TensorFileTest : public TensorFilesTest {
 protected:
  absl::StatusOr<TensorFile> OpenBytes(const std::string& bytes, const std::string& name = "t.safetensors") {
    return TensorFile::Open(File(name, bytes));
  }
  // What opening a safetensors file with this header and 16 bytes of data says.
  absl::Status OpenHeader(const std::string& header) {
    return OpenBytes(Safetensors(header, std::string(16, 'x'))).status();
  }
};

std::string BytesOf(const StoredTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()};
}

// Offsets count from the end of the header; BF16 bytes 80 3f are 1.0.
TEST_F(TensorFileTest, SafetensorsOfTwoTypes) {
  const std::string data = Floats({1, 2, 3, 4, 5, 6, 7, 8}) + std::string(12, '\x80') + std::string(12, '\x3f');
  const auto file = OpenBytes(Safetensors(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]},)"
      R"("b":{"dtype":"BF16","shape":[3,4],"data_offsets":[32,56]}}   )", data));
  ASSERT_OK(file);
  ASSERT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(DescribeTensor(file->tensors()[1]), "b BF16 [3, 4]");
  const auto a = file->Get("a"), b = file->Get("b");
  ASSERT_OK(a);
  ASSERT_OK(b);
  EXPECT_EQ(BytesOf(*a), data.substr(0, 32));
  EXPECT_EQ(b->element_type, ElementType::kBF16);
  EXPECT_THAT(b->shape, ElementsAre(3, 4));
  EXPECT_EQ(BytesOf(*b), data.substr(32));
}

TEST_F(TensorFileTest, TensorsKeepTheFileMapped) {
  absl::StatusOr<StoredTensor> tensor =
      OpenBytes(Safetensors(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", Floats({9})))->Get("");
  ASSERT_OK(tensor);
  EXPECT_EQ(BytesOf(*tensor), Floats({9}));
}

TEST_F(TensorFileTest, NamesAndTypesThatAreNotThere) {
  const auto file = OpenBytes(Safetensors(
      R"({"ids":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"a":{"dtype":"F16","shape":[4],"data_offsets":[8,16]}})",
      std::string(16, 'x')));
  ASSERT_OK(file);
  EXPECT_THAT(file->Get("b"), StatusIs(absl::StatusCode::kNotFound,
                                       AllOf(HasSubstr("t.safetensors"), HasSubstr("\"b\""), HasSubstr("a F16 [4]"))));
  EXPECT_THAT(file->Get("ids"), StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("ids"), HasSubstr("I64"))));
  EXPECT_THAT(file->Get(""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("say which")));
}

TEST_F(TensorFileTest, MalformedEntriesNameTheTensor) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"t":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}})", "before its begin"},
      {R"({"t":{"dtype":"F32","shape":[4],"data_offsets":[4,20]}})", "of 16 bytes of data"},
      {R"({"t":{"dtype":"F32","shape":[3],"data_offsets":[0,16]}})", "not those of F32 [3]"},
      {R"({"t":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,16]}})", "not those of"},
      {R"({"t":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}})", "has no shape"},
      {R"({"t":{"dtype":"F32","shape":[4.5],"data_offsets":[0,16]}})", "has no shape"},
      {R"({"t":{"dtype":"F32","shape":[4],"data_offsets":[0]}})", "has no data_offsets"},
      {R"({"t":{"dtype":"F32","shape":[4],"data_offsets":[0,18446744073709551615]}})", "has no data_offsets"},
      {R"({"t":{"dtype":7,"shape":[4],"data_offsets":[0,16]}})", "has no dtype"},
      {R"({"t":[1]})", "allowed: an object"},
      {R"({"t":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"t":{}})", "twice"}};
  for (const auto& [header, words] : cases) {
    EXPECT_THAT(OpenHeader(header), StatusIs(absl::StatusCode::kInvalidArgument,
                                             AllOf(HasSubstr("t.safetensors: tensor \"t\""), HasSubstr(words))));
  }
}

TEST_F(TensorFileTest, MalformedSafetensorsAreRefused) {
  const std::string header = R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string whole = Safetensors(header, Floats({1}));
  ASSERT_OK(OpenBytes(whole));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(OpenBytes(whole.substr(0, length)), StatusIs(absl::StatusCode::kInvalidArgument,
                                                             HasSubstr("t.safetensors"))) << length;
  }
  EXPECT_THAT(OpenBytes(Safetensors(header, "", 100'000'001)).status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header of")));
  EXPECT_THAT(OpenBytes(std::string(16, '\xff')).status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header of")));
  for (const std::string& text : {std::string("[]"), std::string("{"), std::string("\xff\xfe"), std::string(5000, '[')}) {
    EXPECT_THAT(OpenHeader(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("JSON object")));
  }
}

TEST_F(TensorFileTest, NpyOfEveryVersionAndType) {
  for (char major : {1, 2, 3}) {
    const auto file = OpenBytes(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }  \n", Floats({1, 2}), major),
                                "t.npy");
    ASSERT_OK(file);
    const auto tensor = file->Get("");
    ASSERT_OK(tensor);
    EXPECT_THAT(tensor->shape, ElementsAre(2, 1));
    EXPECT_EQ(BytesOf(*tensor), Floats({1, 2}));
  }
  const std::vector<std::pair<std::string, ElementType>> types = {
      {"<f8", ElementType::kF64}, {"<f2", ElementType::kF16}, {"<V2", ElementType::kBF16}, {"<i4", ElementType::kI32}};
  for (const auto& [descr, type] : types) {
    const auto file = OpenBytes(Npy("{\"descr\":\"" + descr + "\",'shape':(1,),'fortran_order':False}",
                                    std::string(ElementSizeBytes(type), '\0')), "t.npy");
    ASSERT_OK(file);
    EXPECT_EQ(file->tensors()[0].element_type, type);
  }
}

TEST_F(TensorFileTest, MalformedNpyIsRefused) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}";
  const std::string whole = Npy(good, Floats({1, 2}));
  ASSERT_OK(OpenBytes(whole, "t.npy"));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(OpenBytes(whole.substr(0, length), "t.npy"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("t.npy"))) << length;
  }
  const std::vector<std::string> headers = {
      "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}", "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, -2)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", good + "x", good + good, "",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}"};
  for (const std::string& header : headers) {
    EXPECT_THAT(OpenBytes(Npy(header, Floats({1, 2})), "t.npy").status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("t.npy"))) << header;
  }
  EXPECT_THAT(OpenBytes(Npy(good, Floats({1, 2}), 4), "t.npy").status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("version 4")));
}

TEST_F(TensorFileTest, FilesThatAreNotThereOrOfAnotherKind) {
  EXPECT_THAT(TensorFile::Open("/no/such.npy").status(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such.npy")));
  EXPECT_THAT(OpenBytes("x", "t.gguf").status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(".safetensors, .npy")));
  EXPECT_THAT(TensorFile::Open(testing::TempDir()).status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("regular file")));
  EXPECT_THAT(OpenBytes("", "t.npy").status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is empty")));
}

}  // namespace
}  // namespace posenc

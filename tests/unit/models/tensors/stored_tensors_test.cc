#include "server/models/tensors/stored_tensors.h"

#include "tests/support/matchers.h"
#include "tests/unit/models/tensors/tensor_files.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StoredTensorsTest : public TensorFilesTest {
 protected:
  std::string OneTensor(const std::string& shape, const std::string& dtype = "F32") {
    return File("t.safetensors", Safetensors(R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape +
                                             R"(,"data_offsets":[0,8]}})", "abcdefgh"));
  }
};

TEST_F(StoredTensorsTest, DigestIsThatOfTheData) {
  const auto tensor = OpenStoredTensor(OneTensor("[1,2]"), "w");
  ASSERT_OK(tensor);
  // printf abcdefgh | sha256sum
  EXPECT_EQ(tensor->content_sha256, "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab");
  EXPECT_THAT(tensor->source, HasSubstr("t.safetensors:w"));
}

TEST_F(StoredTensorsTest, LeadingOnesAreLeftOut) {
  const auto tensor = OpenStoredTensor(OneTensor("[1,1,1,2]"), "");
  ASSERT_OK(tensor);
  EXPECT_THAT(tensor->shape, ElementsAre(1, 2));
}

TEST_F(StoredTensorsTest, OnlyRealTablesAreTaken) {
  for (const char* shape : {"[2]", "[2,1,1]"}) {
    EXPECT_THAT(OpenStoredTensor(OneTensor(shape), "w"),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("t.safetensors:w"), HasSubstr("two dimensions"))));
  }
  EXPECT_THAT(OpenStoredTensor(OneTensor("[1,2]", "I32"), "w"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("F64, F32, F16, BF16")));
  const std::string empty = File("e.npy", Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4)}", ""));
  EXPECT_THAT(OpenStoredTensor(empty, ""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("neither of them 0")));
}

TEST_F(StoredTensorsTest, CatalogHasEveryName) {
  const std::string file = OneTensor("[1,2]");
  const auto catalog = LoadTensorCatalog({{"a", file, "w"}, {"b", file, ""}});
  ASSERT_OK(catalog);
  EXPECT_EQ((*catalog)->tensors().size(), 2u);
  EXPECT_THAT(LoadTensorCatalog({{"a", file, "w"}, {"a", file, "w"}}),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("'a'")));
  EXPECT_THAT(LoadTensorCatalog({{"a", file, "v"}}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("w F32 [1, 2]")));
}

}  // namespace
}  // namespace posenc

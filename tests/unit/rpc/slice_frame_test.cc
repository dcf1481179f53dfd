#include "server/rpc/slices/slice_frame.h"

#include <memory>
#include <numeric>
#include <string>

#include "gtest/gtest.h"
#include "posenc/v1/positional_encoding_service.pb.h"
#include "server/rpc/calls/wire.h"

namespace posenc {
namespace {

std::string Joined(const Frame& frame) {
  std::string bytes;
  for (const FramePiece& piece : frame) {
    bytes += piece.head;
    bytes.append(reinterpret_cast<const char*>(piece.data.bytes.data()), piece.data.bytes.size());
  }
  return bytes;
}

// Builds the same answer by hand and with protobuf, with data of the sizes given, one piece each.
class SliceFrameTest : public ::testing::Test {
 protected:
  void AddTensor(const std::string& name, std::vector<int64_t> dims, std::vector<size_t> piece_sizes) {
    shapes_.push_back(std::make_unique<TensorShape>(
        TensorShape{.name = name, .element_type = ElementType::kBF16, .row_shape = {1}}));
    TensorPart part{shapes_.back().get(), dims, {}};
    v1::Tensor& tensor = *response_.add_tensors();
    tensor.set_name(name);
    tensor.set_element_type(v1::ELEMENT_TYPE_BF16);
    tensor.mutable_shape()->Add(dims.begin(), dims.end());
    for (const size_t size : piece_sizes) {
      auto bytes = std::make_shared<std::string>(size, '\0');
      std::iota(bytes->begin(), bytes->end(), static_cast<char>(size));
      tensor.mutable_data()->append(*bytes);
      part.data.push_back({std::as_bytes(std::span(*bytes)), bytes});
    }
    parts_.push_back(std::move(part));
  }

  std::string ByHand() {
    v1::GetSliceResponse fields;
    fields.set_table_key(response_.table_key());
    return Joined(FrameTensors(fields.SerializeAsString(), parts_));
  }
  std::string ByProtobuf() { return response_.SerializeAsString(); }

  v1::GetSliceResponse response_;
  std::vector<TensorPart> parts_;

 private:
  std::vector<std::unique_ptr<TensorShape>> shapes_;
};

TEST_F(SliceFrameTest, EqualsProtobufForTwoTensors) {
  response_.set_table_key("0123456789abcdef");
  AddTensor("cos", {3, 64}, {384});
  AddTensor("sin", {3, 64}, {384});
  EXPECT_EQ(ByHand(), ByProtobuf());
}

TEST_F(SliceFrameTest, EqualsProtobufWhereLengthsGetAnotherByte) {
  for (const size_t size : {0, 1, 100, 126, 127, 128, 129, 16383, 16384, 2097151, 2097152}) {
    response_.Clear();
    parts_.clear();
    AddTensor("table", {static_cast<int64_t>(size)}, {size});
    EXPECT_EQ(ByHand(), ByProtobuf()) << size;
  }
}

TEST_F(SliceFrameTest, EqualsProtobufForManyPiecesAndEmptyOnes) {
  response_.set_table_key("k");
  AddTensor("cos", {1000}, {0, 700, 0, 1300});
  AddTensor("sin", {0}, {});
  AddTensor("angles", {1}, {2});
  EXPECT_EQ(ByHand(), ByProtobuf());
}

TEST_F(SliceFrameTest, EmptyAnswerEqualsProtobuf) { EXPECT_EQ(ByHand(), ByProtobuf()); }

TEST_F(SliceFrameTest, DataAreReferencedNotCopied) {
  AddTensor("table", {5000}, {10000});
  const Frame frame = FrameTensors("", parts_);
  ASSERT_EQ(frame.size(), 1u);
  EXPECT_EQ(frame[0].data.bytes.data(), parts_[0].data[0].bytes.data());
}

TEST_F(SliceFrameTest, SlicesKeepTheirOwnerUntilTheyAreGone) {
  AddTensor("table", {5000}, {10000});
  std::weak_ptr<const void> owner = parts_[0].data[0].owner;
  grpc::ByteBuffer buffer = ToMessage(FrameTensors("", std::move(parts_))).buffer;
  parts_.clear();
  EXPECT_FALSE(owner.expired());
  buffer.Clear();
  EXPECT_TRUE(owner.expired());
}

TEST(WireTest, EmptyMessageIsAMessage) {
  v1::GetSliceRequest request;
  const grpc::ByteBuffer buffer = ToMessage(FrameMessage(request)).buffer;
  EXPECT_TRUE(buffer.Valid());
  EXPECT_TRUE(ParseRequest(ViewOf(RequestBytes(buffer).value()), request).ok());
}

}  // namespace
}  // namespace posenc

#include "client/remote/slice_frame.h"

#include <google/protobuf/stubs/logging.h>

#include <random>

#include "posenc/v1/positional_encoding_service.pb.h"
#include "server/core/crc32c.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// Cuts bytes into slices of `step`, each in memory of its own, so that a sanitizer sees every overrun.
grpc::ByteBuffer Cut(const std::string& bytes, size_t step) {
  std::vector<grpc::Slice> slices;
  for (size_t i = 0; i < bytes.size(); i += step) slices.emplace_back(bytes.substr(i, step));
  return {slices.data(), slices.size()};
}

// A message with two tensors, in any field order that a test wants.
class SliceFrameTest : public ::testing::Test {
 protected:
  SliceFrameTest() {
    v1::SliceHeader& header = *message_.mutable_header();
    header.set_table_key("key");
    header.set_row_count(3);
    header.set_size_bytes(36);
    AddTensor("cos", 2, std::string(24, 'c'));
    AddTensor("sin", 1, std::string(12, 's'));
    message_.set_first_row(0);
    message_.set_row_count(3);
    message_.set_crc32c(0x1234);
  }

  void AddTensor(const std::string& name, int columns, const std::string& data) {
    v1::TensorInfo& info = *message_.mutable_header()->add_tensors();
    v1::Tensor& tensor = *message_.add_tensors();
    info.set_name(name);
    tensor.set_name(name);
    info.set_element_type(v1::ELEMENT_TYPE_F32);
    tensor.set_element_type(v1::ELEMENT_TYPE_F32);
    for (int64_t dim : {3, columns}) {
      info.add_shape(dim);
      tensor.add_shape(dim);
    }
    tensor.set_data(data);
  }

  static absl::StatusOr<Frame> Parse(const std::string& bytes, size_t step = 7) {
    grpc::ByteBuffer buffer = Cut(bytes, step);
    return ParseFrame(FrameKind::kStreamSlice, buffer);
  }

  // Copies every tensor out and returns the bytes, one tensor after the other.
  static std::string CopyAll(const std::string& bytes, size_t step, uint32_t& crc32c) {
    grpc::ByteBuffer buffer = Cut(bytes, step);
    const absl::StatusOr<Frame> frame = ParseFrame(FrameKind::kStreamSlice, buffer);
    FrameReader reader(buffer);
    std::string all;
    for (const FrameTensor& tensor : frame->tensors) {
      std::string part(tensor.data_bytes, '?');
      EXPECT_OK(reader.Copy(tensor, std::as_writable_bytes(std::span(part)), &crc32c));
      all += part;
    }
    return all;
  }

  v1::StreamSliceResponse message_;
};

TEST_F(SliceFrameTest, ReadsEveryField) {
  const absl::StatusOr<Frame> frame = Parse(message_.SerializeAsString());
  ASSERT_OK(frame);
  EXPECT_EQ(frame->header->key, "key");
  EXPECT_THAT(frame->header->tensors, SizeIs(2));
  EXPECT_EQ(frame->row_count, 3);
  EXPECT_EQ(frame->crc32c, 0x1234);
  ASSERT_THAT(frame->tensors, SizeIs(2));
  EXPECT_EQ(frame->tensors[0].info.name, "cos");
  EXPECT_THAT(frame->tensors[0].info.shape, ElementsAre(3, 2));
  EXPECT_EQ(frame->tensors[1].data_bytes, 12);
}

TEST_F(SliceFrameTest, CopiesTheSameFromSlicesOfAnySize) {
  const std::string expected = std::string(24, 'c') + std::string(12, 's');
  for (size_t step : {1, 2, 3, 16, 100000}) {
    uint32_t crc32c = 0;
    EXPECT_EQ(CopyAll(message_.SerializeAsString(), step, crc32c), expected) << step;
    EXPECT_EQ(crc32c, ExtendCrc32c(0, std::as_bytes(std::span(expected)))) << step;
  }
}

TEST_F(SliceFrameTest, TakesFieldsInAnyOrder) {
  v1::StreamSliceResponse tensors_first;
  message_.mutable_tensors()->Swap(tensors_first.mutable_tensors());
  const absl::StatusOr<Frame> frame =
      Parse(tensors_first.SerializeAsString() + message_.SerializeAsString());
  ASSERT_OK(frame);
  EXPECT_THAT(frame->tensors, SizeIs(2));
  EXPECT_EQ(frame->header->row_count, 3);
}

TEST_F(SliceFrameTest, StepsOverUnknownFields) {
  // Field 100 as a varint, a fixed64, bytes and a fixed32; group ends are refused by protobuf too.
  const std::string unknown = "\xa0\x06\x05" "\xa1\x06" "12345678" "\xa2\x06\x02zz" "\xa5\x06" "1234";
  EXPECT_OK(Parse(unknown + message_.SerializeAsString() + unknown));
}

TEST_F(SliceFrameTest, TakesUnpackedShapes) {
  // Tensor { shape: 3, shape: 2 } with a tag for each.
  const absl::StatusOr<Frame> frame = Parse("\x7a\x04\x18\x03\x18\x02");
  ASSERT_OK(frame);
  EXPECT_THAT(frame->tensors[0].info.shape, ElementsAre(3, 2));
}

TEST_F(SliceFrameTest, EmptyMessageHasNothing) {
  const absl::StatusOr<Frame> frame = Parse("");
  ASSERT_OK(frame);
  EXPECT_FALSE(frame->header.has_value());
}

TEST_F(SliceFrameTest, EveryTruncationIsAnErrorOrAShorterMessage) {
  const std::string whole = message_.SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    const absl::StatusOr<Frame> frame = Parse(whole.substr(0, size));
    const bool plain = v1::StreamSliceResponse().ParseFromString(whole.substr(0, size));
    EXPECT_EQ(frame.ok(), plain) << size;
  }
}

TEST_F(SliceFrameTest, RefusesLengthsBeyondTheMessage) {
  EXPECT_THAT(Parse("\x7a\xff\xff\xff\xff\x07zz"), StatusIs(absl::StatusCode::kInternal, ::testing::_));
  EXPECT_THAT(Parse("\x7a\x04\x7a\x05zz"), StatusIs(absl::StatusCode::kInternal, ::testing::_));
  EXPECT_THAT(Parse("\x0a\x7f"), StatusIs(absl::StatusCode::kInternal, ::testing::_));
}

TEST_F(SliceFrameTest, RefusesDataTwice) {
  EXPECT_THAT(Parse("\x7a\x06\x7a\x01z\x7a\x01z"), StatusIs(absl::StatusCode::kInternal, ::testing::_));
}

TEST_F(SliceFrameTest, RefusesUnknownElementTypes) {
  EXPECT_THAT(Parse("\x7a\x02\x10\x63"), StatusIs(absl::StatusCode::kInternal, ::testing::_));
}

TEST_F(SliceFrameTest, RefusesMoreTensorsThanATableHas) {
  std::string many;
  for (int i = 0; i < 17; ++i) many += std::string("\x7a\x00", 2);
  EXPECT_THAT(Parse(many), StatusIs(absl::StatusCode::kInternal, ::testing::_));
}

TEST_F(SliceFrameTest, RefusesAHeaderOfMoreTensorsThanATableHas) {
  message_.mutable_header()->set_row_count(0);
  message_.mutable_header()->set_size_bytes(0);
  message_.mutable_header()->clear_tensors();
  for (int i = 0; i < 17; ++i) {
    v1::TensorInfo& info = *message_.mutable_header()->add_tensors();
    info.set_element_type(v1::ELEMENT_TYPE_F32);
    info.add_shape(0);
  }
  EXPECT_THAT(Parse(message_.SerializeAsString()), StatusIs(absl::StatusCode::kInternal, _));
}

TEST_F(SliceFrameTest, RefusesALongHeaderUnread) {
  message_.mutable_header()->set_table_key(std::string(1 << 20, 'k'));
  EXPECT_THAT(Parse(message_.SerializeAsString(), 4096), StatusIs(absl::StatusCode::kInternal, _));
}

TEST_F(SliceFrameTest, RefusesAHeaderThatContradictsItself) {
  const auto refused = [&] { return !Parse(message_.SerializeAsString()).ok(); };
  message_.mutable_header()->set_size_bytes(35);
  EXPECT_TRUE(refused());
  message_.mutable_header()->set_size_bytes(36);
  message_.mutable_header()->set_row_count(5);
  EXPECT_TRUE(refused());
  message_.mutable_header()->set_row_count(3);
  message_.mutable_header()->mutable_tensors(0)->set_shape(0, int64_t{1} << 62);
  EXPECT_TRUE(refused());
}

TEST_F(SliceFrameTest, SurvivesAnyBytes) {
  const google::protobuf::LogSilencer no_remarks_on_utf8;
  std::mt19937 random(1);
  const std::string whole = message_.SerializeAsString();
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    const absl::StatusOr<Frame> frame = Parse(bytes, 1 + random() % 30);
    if (!frame.ok()) continue;
    for (const FrameTensor& tensor : frame->tensors) {
      ASSERT_LE(tensor.data_begin + tensor.data_bytes, static_cast<int64_t>(bytes.size()));
    }
  }
}

}  // namespace
}  // namespace posenc

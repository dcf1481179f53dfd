// Frames the answers that carry tensors, by hand: small fields, then the tag and length of a tensor's data,
// then the data themselves as they lie in memory.
//
// The bytes are exactly those of ordinary protobuf serialisation of the same message, so that any
// language's generated code reads them. Threads: pure functions.

#ifndef POSENC_SERVER_RPC_SLICES_SLICE_FRAME_H_
#define POSENC_SERVER_RPC_SLICES_SLICE_FRAME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "google/protobuf/message_lite.h"
#include "server/core/table_key.h"
#include "server/core/table_shape.h"
#include "server/rpc/calls/frame.h"

namespace posenc {

// One tensor of an answer. The data are the bytes of product(dims) elements, in pieces.
struct TensorPart {
  const TensorShape* tensor = nullptr;
  std::vector<int64_t> dims;
  std::vector<SharedBytes> data;
};

// The serialised `table_key` of a GetSliceResponse.
std::string TableKeyField(const TableKey& key);

// Frames a GetSliceResponse or StreamSliceResponse: `fields` are its serialised fields before `tensors`,
// which is number 15 in both, and so is `data` in Tensor.
Frame FrameTensors(std::string fields, std::vector<TensorPart> tensors);

// Frames any other message.
Frame FrameMessage(const google::protobuf::MessageLite& message);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SLICES_SLICE_FRAME_H_

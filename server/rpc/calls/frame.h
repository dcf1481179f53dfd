// The bytes of one message in pieces, none of which is copied on its way to the wire.
//
// A piece is a small head that was made for this message, then data that lie in the memory of a block or
// a buffer; `owner` keeps that memory alive until the transport has let go of it. A message without bulk
// data is one piece with a head alone.
//
// Threads: a value. Ownership: shared with the store, see Block.

#ifndef POSENC_SERVER_RPC_CALLS_FRAME_H_
#define POSENC_SERVER_RPC_CALLS_FRAME_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace posenc {

// Bytes in memory that someone else owns.
struct SharedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

struct FramePiece {
  std::string head;
  SharedBytes data;  // may be empty
};

using Frame = std::vector<FramePiece>;

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_FRAME_H_

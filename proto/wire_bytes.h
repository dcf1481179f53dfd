// Appends protobuf's wire format to a string: numbers, and the tags and lengths of fields.
// Threads: pure functions.

#ifndef POSENC_PROTO_WIRE_BYTES_H_
#define POSENC_PROTO_WIRE_BYTES_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/message_fields.h"

namespace posenc {

using google::protobuf::internal::WireFormatLite;

inline void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
}

inline void AppendFixed64(uint64_t value, std::string& out) {
  for (int i = 0; i < 8; ++i, value >>= 8) out.push_back(static_cast<char>(value & 0xff));
}

inline void AppendTag(const ProtoField& field, WireFormatLite::WireType type, std::string& out) {
  AppendVarint(WireFormatLite::MakeTag(field.number(), type), out);
}

inline void AppendBytes(const ProtoField& field, absl::string_view bytes, std::string& out) {
  AppendTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, out);
  AppendVarint(bytes.size(), out);
  out.append(bytes.data(), bytes.size());
}

}  // namespace posenc

#endif  // POSENC_PROTO_WIRE_BYTES_H_

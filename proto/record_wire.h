// From a record of core straight to the bytes of the proto message that has the same fields: what
// record_writer.h and protobuf's serialisation make together, for specs that are sent with every call.
//
// The fields are found by name as there, but once for each type of record and not once for each message.
// Their order is that of the record, which any parser takes. Threads: pure functions.

#ifndef POSENC_PROTO_RECORD_WIRE_H_
#define POSENC_PROTO_RECORD_WIRE_H_

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "proto/message_fields.h"
#include "proto/wire_bytes.h"
#include "server/core/names.h"
#include "server/core/specs/field.h"

namespace posenc {

using ProtoMessageType = google::protobuf::Descriptor;

template <Record T>
void AppendRecord(const T& record, const ProtoMessageType& message, std::string& out);

template <typename T>
std::string PackedList(const std::vector<T>& values) {
  std::string packed;
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, double>) {
      AppendFixed64(std::bit_cast<uint64_t>(value), packed);
    } else {
      AppendVarint(static_cast<uint64_t>(value), packed);
    }
  }
  return packed;
}

// Leaves out zero and empty where the message does not tell them from absent, as protobuf does.
template <typename T>
void AppendValue(const ProtoField& field, const T& member, std::string& out) {
  const bool implicit = !field.has_presence();
  if constexpr (kIsOptional<T>) {
    if (member) AppendValue(field, *member, out);
  } else if constexpr (Record<T>) {
    std::string bytes;
    AppendRecord(member, *field.message_type(), bytes);
    AppendBytes(field, bytes, out);
  } else if constexpr (kIsList<T>) {
    if (!member.empty()) AppendBytes(field, PackedList(member), out);
  } else if constexpr (std::is_same_v<T, double>) {
    const auto bits = std::bit_cast<uint64_t>(member);
    if (implicit && bits == 0) return;
    AppendTag(field, WireFormatLite::WIRETYPE_FIXED64, out);
    AppendFixed64(bits, out);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!implicit || !member.empty()) AppendBytes(field, member, out);
  } else {
    const auto value = static_cast<uint64_t>(static_cast<int64_t>(member));
    if (implicit && value == 0) return;
    AppendTag(field, WireFormatLite::WIRETYPE_VARINT, out);
    AppendVarint(value, out);
  }
}

// The fields of `message` in the order of T's members; null for a variant, whose fields have the names of
// its alternatives. Requires: one type of record has one type of message, which record_codec_test asserts.
template <Record T>
const std::vector<const ProtoField*>& WireFields(const ProtoMessageType& message) {
  static const auto* const fields = [&] {
    auto* found = new std::vector<const ProtoField*>();
    const T any;
    T::Fields(any, [&]<typename Member>(const Field& info, const Member&) {
      found->push_back(kIsVariant<Member> ? nullptr : message.FindFieldByName(std::string(info.name)));
    });
    return found;
  }();
  return *fields;
}

// Appends every field of the record that is not absent.
template <Record T>
void AppendRecord(const T& record, const ProtoMessageType& message, std::string& out) {
  const ProtoField* const* next = WireFields<T>(message).data();
  T::Fields(record, [&]<typename Member>(const Field&, const Member& member) {
    const ProtoField* const field = *next++;
    if constexpr (kIsVariant<Member>) {
      std::visit(
          [&]<typename Alternative>(const Alternative& alternative) {
            if constexpr (Record<Alternative>) {
              AppendValue(*message.FindFieldByName(std::string(Alternative::kName)), alternative, out);
            }
          },
          member);
    } else {
      AppendValue(*field, member, out);
    }
  });
}

}  // namespace posenc

#endif  // POSENC_PROTO_RECORD_WIRE_H_

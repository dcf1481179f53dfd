// From a record of core to the proto message that has the same fields; record_reader.h says which those are.
// Pure functions.

#ifndef POSENC_PROTO_RECORD_WRITER_H_
#define POSENC_PROTO_RECORD_WRITER_H_

#include <string>
#include <type_traits>
#include <variant>

#include "proto/message_fields.h"
#include "server/core/names.h"
#include "server/core/specs/field.h"

namespace posenc {

template <Record T>
void WriteRecord(const T& record, ProtoMessage& message);

template <typename T>
void WriteValue(const ProtoField* field, const T& member, ProtoMessage& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if constexpr (kIsOptional<T>) {
    if (member) WriteValue(field, *member, message);
  } else if constexpr (Named<T>) {
    reflection.SetEnumValue(&message, field, static_cast<int>(member));
  } else if constexpr (Record<T>) {
    WriteRecord(member, *reflection.MutableMessage(&message, field));
  } else if constexpr (kIsList<T>) {
    auto values = reflection.GetMutableRepeatedFieldRef<typename T::value_type>(&message, field);
    for (const auto& value : member) values.Add(value);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    reflection.SetInt64(&message, field, member);
  } else if constexpr (std::is_same_v<T, double>) {
    reflection.SetDouble(&message, field, member);
  } else if constexpr (std::is_same_v<T, bool>) {
    reflection.SetBool(&message, field, member);
  } else {
    reflection.SetString(&message, field, member);
  }
}

// Writes every field of the record that is not absent.
template <Record T>
void WriteRecord(const T& record, ProtoMessage& message) {
  const google::protobuf::Descriptor& descriptor = *message.GetDescriptor();
  T::Fields(record, [&]<typename Member>(const Field& info, const Member& member) {
    if constexpr (kIsVariant<Member>) {
      std::visit(
          [&]<typename Alternative>(const Alternative& alternative) {
            if constexpr (Record<Alternative>) {
              const ProtoField* field = descriptor.FindFieldByName(std::string(Alternative::kName));
              WriteRecord(alternative, *message.GetReflection()->MutableMessage(&message, field));
            }
          },
          member);
    } else {
      WriteValue(descriptor.FindFieldByName(std::string(info.name)), member, message);
    }
  });
}

}  // namespace posenc

#endif  // POSENC_PROTO_RECORD_WRITER_H_

// Between a record of core (server/core/field.h) and the proto message of the same fields, by reflection.
//
// A field of the record is the message's field of the same name, a variant its oneof, whose fields have
// the alternatives' names. Reading leaves a member at its default where the message has no value: for
// fields without presence that is the proto default (0, UNSPECIFIED, empty). Pure functions.
//
// Requires: the message has every field of the record; spec_codec_test visits them all.

#ifndef POSENC_PROTO_RECORD_CODEC_H_
#define POSENC_PROTO_RECORD_CODEC_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/reflection.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/field.h"
#include "server/core/names.h"
#include "server/core/violations.h"

namespace posenc {

using ProtoMessage = google::protobuf::Message;
using ProtoField = google::protobuf::FieldDescriptor;

// Core enums have the numbers of the proto enums; 0 leaves the default.
template <Named Enum>
void ReadEnum(absl::string_view path, int value, Enum& member, Violations& bad) {
  const auto last = static_cast<int>(EnumNames(Enum{}).size());
  if (value >= 1 && value <= last) member = static_cast<Enum>(value);
  if (value < 0 || value > last) bad.Add(path, value, absl::StrCat("0 to ", last, ", see the proto"));
}

// Reads and writes one message's fields of every type that a record may have.
class MessageFields {
 public:
  explicit MessageFields(const ProtoMessage& message)
      : message_(message), reflection_(*message.GetReflection()) {}

  const ProtoField* Find(absl::string_view name) const {
    return message_.GetDescriptor()->FindFieldByName(std::string(name));
  }
  bool Has(const ProtoField* field) const { return reflection_.HasField(message_, field); }
  const ProtoMessage& Child(const ProtoField* field) const {
    return reflection_.GetMessage(message_, field);
  }
  // The field of a oneof that is set, or null.
  const ProtoField* Chosen(absl::string_view oneof) const {
    return reflection_.GetOneofFieldDescriptor(
        message_, message_.GetDescriptor()->FindOneofByName(std::string(oneof)));
  }
  int EnumNumber(const ProtoField* field) const { return reflection_.GetEnumValue(message_, field); }

  void Read(const ProtoField* field, int64_t& to) const { to = reflection_.GetInt64(message_, field); }
  void Read(const ProtoField* field, double& to) const { to = reflection_.GetDouble(message_, field); }
  void Read(const ProtoField* field, bool& to) const { to = reflection_.GetBool(message_, field); }
  void Read(const ProtoField* field, std::string& to) const { to = reflection_.GetString(message_, field); }
  template <typename T>
  void Read(const ProtoField* field, std::vector<T>& to) const {
    const auto& values = reflection_.GetRepeatedFieldRef<T>(message_, field);
    to.assign(values.begin(), values.end());
  }

 private:
  const ProtoMessage& message_;
  const google::protobuf::Reflection& reflection_;
};

template <Record T>
void ReadRecord(const ProtoMessage& message, const std::string& path, T& record, Violations& bad);

// Reads a field that the message has.
template <typename T>
void ReadValue(const MessageFields& fields, const ProtoField* field, const std::string& path, T& member,
               Violations& bad) {
  if constexpr (kIsOptional<T>) {
    ReadValue(fields, field, path, member.emplace(), bad);
  } else if constexpr (Named<T>) {
    ReadEnum(path, fields.EnumNumber(field), member, bad);
  } else if constexpr (Record<T>) {
    ReadRecord(fields.Child(field), path, member, bad);
  } else {
    fields.Read(field, member);
  }
}

template <typename Variant>
void ReadOneof(const MessageFields& fields, absl::string_view name, const std::string& parent,
               Variant& member, Violations& bad) {
  const ProtoField* chosen = fields.Chosen(name);
  if (chosen == nullptr) return;
  VisitAlternative<Variant>(chosen->name(), [&](auto alternative) {
    ReadRecord(fields.Child(chosen), absl::StrCat(parent, ".", chosen->name()), alternative, bad);
    member = std::move(alternative);
  });
}

// Errors: a violation for a required field that is missing and for a number that no enum has; paths begin
// with `path`.
template <Record T>
void ReadRecord(const ProtoMessage& message, const std::string& path, T& record, Violations& bad) {
  const MessageFields fields(message);
  T::Fields(record, [&]<typename Member>(const Field& info, Member& member) {
    if constexpr (kIsVariant<Member>) {
      ReadOneof(fields, info.name, path, member, bad);
    } else {
      const ProtoField* field = fields.Find(info.name);
      const std::string name = absl::StrCat(path, ".", info.name);
      const bool has = field->is_repeated() || fields.Has(field);
      if (has) return ReadValue(fields, field, name, member, bad);
      if (info.required && field->has_presence()) bad.AddText(name, "is missing; it has no default");
    }
  });
}

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

#endif  // POSENC_PROTO_RECORD_CODEC_H_

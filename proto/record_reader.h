// From a proto message to the record of core that has the same fields (server/core/specs/field.h), by reflection.
//
// A field of the record is the message's field of the same name, a variant its oneof, whose fields have
// the alternatives' names. Reading leaves a member at its default where the message has no value: for
// fields without presence that is the proto default (0, UNSPECIFIED, empty). Pure functions.
//
// Requires: the message has every field of the record; record_codec_test visits them all.

#ifndef POSENC_PROTO_RECORD_READER_H_
#define POSENC_PROTO_RECORD_READER_H_

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/message_fields.h"
#include "server/core/names.h"
#include "server/core/specs/field.h"
#include "server/core/violations.h"

namespace posenc {

// Core enums have the numbers of the proto enums; 0 leaves the default.
template <Named Enum>
void ReadEnum(absl::string_view path, int value, Enum& member, Violations& bad) {
  const auto last = static_cast<int>(EnumNames(Enum{}).size());
  if (value >= 1 && value <= last) member = static_cast<Enum>(value);
  if (value < 0 || value > last) bad.Add(path, value, absl::StrCat("0 to ", last, ", see the proto"));
}

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

}  // namespace posenc

#endif  // POSENC_PROTO_RECORD_READER_H_

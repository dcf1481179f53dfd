// The fields of a proto message by name, through reflection.
//
// A view: the message must outlive it. Threads: as the message.

#ifndef POSENC_PROTO_MESSAGE_FIELDS_H_
#define POSENC_PROTO_MESSAGE_FIELDS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/reflection.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace posenc {

using ProtoMessage = google::protobuf::Message;
using ProtoField = google::protobuf::FieldDescriptor;

// Reads one message's fields of every type that a record may have.
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

}  // namespace posenc

#endif  // POSENC_PROTO_MESSAGE_FIELDS_H_

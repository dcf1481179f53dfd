// The records of core and the messages of the proto say the same: every field, every enum value.

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "posenc/v1/spec.pb.h"
#include "proto/record_reader.h"
#include "proto/record_writer.h"

namespace posenc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;

template <Named Enum>
void ExpectSameNames(const EnumDescriptor& proto) {
  const std::vector<absl::string_view> names = AllNames<Enum>();
  ASSERT_EQ(proto.value_count(), static_cast<int>(names.size()) + 1) << proto.full_name();
  const std::string zero = proto.FindValueByNumber(0)->name();
  const std::string prefix = zero.substr(0, zero.size() - std::string("UNSPECIFIED").size());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string upper = absl::AsciiStrToUpper(absl::StrReplaceAll(names[i], {{"-", "_"}}));
    EXPECT_EQ(proto.FindValueByNumber(static_cast<int>(i) + 1)->name(), prefix + upper);
  }
}

template <Record T>
int ExpectSameFields(const Descriptor& message);

// Returns how many fields of the message the member stands for.
template <typename T>
int ExpectSameField(const Descriptor& message, const Field& info) {
  const std::string where = message.full_name() + "." + std::string(info.name);
  if constexpr (kIsVariant<T>) {
    int fields = 0;
    EXPECT_NE(message.FindOneofByName(std::string(info.name)), nullptr) << where;
    ForEachAlternative<T>([&]<typename Alternative>(const Alternative&) {
      const ProtoField* field = message.FindFieldByName(std::string(Alternative::kName));
      ASSERT_NE(field, nullptr) << where << ": " << Alternative::kName;
      ExpectSameFields<Alternative>(*field->message_type());
      ++fields;
    });
    return fields;
  } else {
    const ProtoField* field = message.FindFieldByName(std::string(info.name));
    EXPECT_NE(field, nullptr) << where;
    if (field == nullptr) return 0;
    using Inner = std::remove_cvref_t<decltype(*std::optional(std::declval<T>()))>;
    if constexpr (kIsOptional<T>) {
      EXPECT_TRUE(Named<Inner> || field->has_presence()) << where;
    }
    if constexpr (Named<T>) ExpectSameNames<T>(*field->enum_type());
    if constexpr (Record<T>) ExpectSameFields<T>(*field->message_type());
    return 1;
  }
}

template <Record T>
int ExpectSameFields(const Descriptor& message) {
  // What record_wire.h relies on.
  static const Descriptor* const only_message = &message;
  EXPECT_EQ(only_message, &message) << message.full_name() << " and " << only_message->full_name();
  T record;
  int fields = 0;
  T::Fields(record, [&]<typename Member>(const Field& info, const Member& member) {
    fields += ExpectSameField<Member>(message, info);
    // What is zero in the proto must be so in the struct, unless presence tells them apart.
    const ProtoField* field = kIsVariant<Member> ? nullptr : message.FindFieldByName(std::string(info.name));
    if constexpr (std::is_arithmetic_v<Member>) {
      const bool zero_is_default = field != nullptr && !field->has_presence();
      EXPECT_TRUE(!zero_is_default || member == Member{}) << message.full_name() << "." << info.name;
    }
  });
  EXPECT_EQ(fields, message.field_count()) << message.full_name();
  return fields;
}

TEST(RecordCodecTest, EveryFieldAndEnumHasItsCounterpart) {
  const Descriptor& table = *v1::TableSpec::descriptor();
  int families = 0;
  ForEachAlternative<FamilySpec>([&]<typename Family>(const Family&) {
    const ProtoField* field = table.FindFieldByName(std::string(Family::kName));
    ASSERT_NE(field, nullptr) << Family::kName;
    ExpectSameFields<Family>(*field->message_type());
    ++families;
  });
  EXPECT_EQ(families, table.FindOneofByName("family")->field_count());
  ExpectSameNames<Arithmetic>(*table.FindFieldByName("arithmetic")->enum_type());
}

TEST(RecordCodecTest, DefaultsSurviveTheWay) {
  ForEachAlternative<FamilySpec>([&]<typename Family>(const Family& family) {
    const ProtoField* field = v1::TableSpec::descriptor()->FindFieldByName(std::string(Family::kName));
    v1::TableSpec message;
    google::protobuf::Message& part = *message.GetReflection()->MutableMessage(&message, field);
    WriteRecord(family, part);
    Family back;
    Violations bad;
    ReadRecord(part, "spec", back, bad);
    EXPECT_TRUE(bad.empty()) << bad.ToStatus();
    v1::TableSpec again;
    WriteRecord(back, *again.GetReflection()->MutableMessage(&again, field));
    EXPECT_EQ(again.DebugString(), message.DebugString());
  });
}

}  // namespace
}  // namespace posenc

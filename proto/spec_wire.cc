#include "proto/spec_wire.h"

#include "posenc/v1/spec.pb.h"
#include "proto/record_wire.h"
#include "proto/spec_codec.h"

namespace posenc {

std::string EncodeSpecBytes(const TableSpec& spec) {
  static const ProtoMessageType& message = *v1::TableSpec::descriptor();
  static const ProtoField& element_type =
      *message.FindFieldByNumber(v1::TableSpec::kElementTypeFieldNumber);
  static const ProtoField& arithmetic = *message.FindFieldByNumber(v1::TableSpec::kArithmeticFieldNumber);
  std::string bytes;
  bytes.reserve(256);
  std::visit(
      [&]<typename Family>(const Family& family) {
        static const ProtoField& field = *message.FindFieldByName(std::string(Family::kName));
        AppendValue(field, family, bytes);
      },
      spec.family);
  AppendValue(element_type, EncodeElementType(spec.element_type), bytes);
  AppendValue(arithmetic, spec.arithmetic, bytes);
  return bytes;
}

}  // namespace posenc

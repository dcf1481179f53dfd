#include "client/cli/flags/spec_flags.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/command.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/parse.h"
#include "server/core/names.h"

namespace posenc::cli {

void SpecFlags::AddTo(CLI::App& command, const std::string& family) {
  family_ = *FamilyByName(family);
  fields_.AddTo(command, family_);
  const auto add = [&](const std::string& flag, auto parse, auto& value, const std::string& help) {
    command
        .add_option_function<std::string>(
            flag, [parse, &value](const std::string& text) { value = *parse(text); }, help)
        ->check(Checked(parse), "", "")
        ->type_name("NAME")
        ->group("Table");
  };
  add("--dtype", ParseElementType, element_type_, "Element type: f32 (usual), f64, f16, bf16, i32");
  add("--arithmetic", ParseName<Arithmetic>, arithmetic_,
      absl::StrCat("How values are computed (exact unless given): ", absl::StrJoin(AllNames<Arithmetic>(), ", ")));
  model_.AddTo(command);
}

Outcome SpecFlags::Resolve(Client& client, const CallOptions& call, TableSpec& spec) const {
  spec = {.family = family_};
  if (model_.given()) {
    std::optional<int64_t> effective_length;
    const std::string* text = fields_.Find("--effective-length");
    if (text != nullptr) effective_length = *ParseInteger(*text);
    ModelTable table;
    Outcome outcome = model_.Choose(client, call, effective_length, std::string(FamilyName(family_)), table);
    if (!outcome.ok()) return outcome;
    spec = std::move(table.spec);
  }
  if (element_type_) spec.element_type = *element_type_;
  if (arithmetic_) spec.arithmetic = *arithmetic_;
  return fields_.Apply(model_.given(), spec.family);
}

}  // namespace posenc::cli

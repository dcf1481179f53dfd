#include "client/cli/spec_flags.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/command.h"
#include "client/cli/parse.h"
#include "server/core/names.h"

namespace posenc::cli {
namespace {

template <typename Enum>
std::string NamesText() {
  return absl::StrJoin(AllNames<Enum>(), ", ");
}

absl::StatusOr<std::string> ParseScaling(const std::string& name) {
  for (const char* known : {"none", "linear", "llama3", "frequencies"}) {
    if (name == known) return name;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is unknown; allowed: none, linear, llama3, frequencies"));
}

}  // namespace

template <typename Spec, typename Value>
void SpecFlags::Number(CLI::App& command, const std::string& flag, Value Spec::*member,
                       const std::string& help) {
  const auto set = [this, member](const auto& value) {
    setters_.push_back([=](TableSpec& spec) { std::get<Spec>(spec.family).*member = value; });
  };
  const auto add = [&](auto parse, const char* type) {
    command.add_option_function<std::string>(
               flag, [=](const std::string& text) { set(*parse(text)); }, help)
        ->check(Checked(parse), "", "")
        ->type_name(type);
  };
  if constexpr (std::is_same_v<Value, double>) {
    add(ParseDouble, "NUMBER");
  } else {
    add(ParseInteger, "N");
  }
}

template <typename Spec, typename Value>
void SpecFlags::Name(CLI::App& command, const std::string& flag, Value Spec::*member,
                     const std::string& help) {
  // A field that may be absent holds an optional of its enum.
  using Enum = std::remove_reference_t<decltype(*std::optional(std::declval<Value>()))>;
  const auto set = [this, member](const std::string& text) {
    const Enum value = *ParseName<Enum>(text);
    setters_.push_back([=](TableSpec& spec) { std::get<Spec>(spec.family).*member = value; });
  };
  command.add_option_function<std::string>(flag, set, absl::StrCat(help, ": ", NamesText<Enum>()))
      ->check(Checked(ParseName<Enum>), "", "")
      ->type_name("NAME");
}

template <typename Spec>
void SpecFlags::Switch(CLI::App& command, const std::string& flag, bool Spec::*member,
                       const std::string& help) {
  const auto set = [this, member](int64_t count) {
    setters_.push_back([=](TableSpec& spec) { std::get<Spec>(spec.family).*member = count > 0; });
  };
  command.add_flag_function(flag, set, help);
}

void SpecFlags::AddTo(CLI::App& command, const std::string& family) {
  if (family == "sinusoidal") AddSinusoidal(command);
  if (family == "rope") AddRope(command);
  if (family == "alibi") AddAlibi(command);
  command
      .add_option_function<std::string>(
          "--dtype",
          [this](const std::string& text) {
            setters_.push_back([type = *ParseElementType(text)](TableSpec& spec) { spec.element_type = type; });
          },
          "Element type: f32 (default), f64, f16, bf16")
      ->check(Checked(ParseElementType), "", "")
      ->type_name("TYPE");
}

void SpecFlags::AddSinusoidal(CLI::App& command) {
  using Spec = SinusoidalSpec;
  family_ = Spec();
  Number(command, "--d-model", &Spec::d_model, "Width of a row; required");
  Number(command, "--max-len", &Spec::max_len, "Rows (default 5000)");
  Number(command, "--base", &Spec::base, "Base of the frequencies (default 10000)");
  Name(command, "--order", &Spec::order, "Where sines and cosines stand");
  Number(command, "--frequency-shift", &Spec::frequency_shift,
         "0 as in the paper (default); 1 makes the last frequency 1/base");
  Name(command, "--odd-width", &Spec::odd_width, "What an odd width means");
  Switch(command, "--clamp-denominator", &Spec::clamp_denominator,
         "Raises a denominator below 1 to 1, as tensor2tensor does");
  Number(command, "--first-position", &Spec::first_position, "Position of row 0 (default 0)");
  Number(command, "--zero-row", &Spec::zero_row, "A row of zeros (fairseq's padding row)");
  Number(command, "--position-scale", &Spec::position_scale, "Factor on positions (default 1)");
  Number(command, "--row-scale", &Spec::row_scale, "Factor on the numbers (default 1)");
}

void SpecFlags::AddRope(CLI::App& command) {
  using Spec = RopeSpec;
  family_ = Spec();
  Number(command, "--head-dim", &Spec::head_dim, "Dimensions of a head; required without --model");
  Number(command, "--rotary-dim", &Spec::rotary_dim, "Dimensions that rotate (default: head-dim)");
  Number(command, "--max-len", &Spec::max_len, "Rows (default 5000)");
  Number(command, "--base", &Spec::base, "Base of the frequencies, rope_theta (default 10000)");
  AddScaling(command);
  Name(command, "--layout", &Spec::layout, "Form of the table");
  Number(command, "--first-position", &Spec::first_position, "Position of row 0 (default 0)");
  AddModel(command);
}

void SpecFlags::AddScaling(CLI::App& command) {
  command.add_option("--scaling", scaling_.type, "none (default), linear, llama3, frequencies")
      ->check(Checked(ParseScaling), "", "")
      ->type_name("NAME");
  const auto number = [&](const std::string& flag, std::optional<double>& value, const std::string& help) {
    command.add_option_function<std::string>(
               flag, [&value](const std::string& text) { value = *ParseDouble(text); }, help)
        ->check(Checked(ParseDouble), "", "")
        ->type_name("NUMBER");
  };
  number("--factor", scaling_.factor, "Of linear and llama3 scaling");
  number("--low-freq-factor", scaling_.low_freq_factor, "Of llama3 scaling (default 1)");
  number("--high-freq-factor", scaling_.high_freq_factor, "Of llama3 scaling (default 4)");
  command
      .add_option_function<std::string>(
          "--original-max-len",
          [this](const std::string& text) { scaling_.original_max_len = *ParseInteger(text); },
          "Of llama3 scaling (default 8192)")
      ->check(Checked(ParseInteger), "", "")
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--inverse-frequencies",
          [this](const std::string& text) { scaling_.inverse_frequencies = *ParseDoubles(text); },
          "Your own, one for each rotated pair: 1,0.5,…")
      ->check(Checked(ParseDoubles), "", "")
      ->type_name("LIST");
}

void SpecFlags::AddAlibi(CLI::App& command) {
  using Spec = AlibiSpec;
  family_ = Spec();
  Number(command, "--heads", &Spec::heads, "Attention heads; required without --model");
  Number(command, "--max-len", &Spec::max_len, "Queries and keys (default 5000)");
  Number(command, "--bias-max", &Spec::bias_max, "Slopes end at 2^-bias-max (default 8)");
  Name(command, "--slope-rule", &Spec::slope_rule, "Slopes of a head count that is no power of two");
  Name(command, "--form", &Spec::form, "Of the bias, or the slopes alone");
  Switch(command, "--masked", &Spec::masked, "-infinity for keys after the query (causal form)");
  AddModel(command);
}

void SpecFlags::AddModel(CLI::App& command) {
  command.add_option("--model", model_file_, "A model's config.json (or its folder): takes the spec from it")
      ->type_name("FILE");
  command.add_option("--table", model_table_, "Which table of the model, where it has several")
      ->needs("--model")
      ->type_name("NAME");
}

Outcome SpecFlags::FromModel(Client& client, const CallOptions& call, TableSpec& spec) const {
  std::string text;
  if (Outcome read = ReadConfig(model_file_, text); !read.ok()) return read;
  const absl::StatusOr<ModelTables> model = client.ResolveModel(std::move(text), call);
  if (!model.ok()) return RpcError(model.status());
  std::vector<std::string> names;
  const ModelTable* chosen = nullptr;
  for (const ModelTable& table : model->tables) {
    if (table.spec.family.index() != family_.index()) continue;
    names.push_back(table.name);
    if (table.name == model_table_ || (model_table_.empty() && table.name == "main")) chosen = &table;
    if (model_table_.empty() && chosen == nullptr && model->tables.size() == 1) chosen = &table;
  }
  if (chosen != nullptr) {
    spec = chosen->spec;
    return {};
  }
  const std::string family(FamilyName(family_));
  if (names.empty()) {
    return Usage(absl::StrCat(model_file_, " has no ", family, " table; 'posenc model ", model_file_,
                              "' shows what it has"));
  }
  return Usage(absl::StrCat("--table ", model_table_.empty() ? "is needed" : "is unknown", "; ",
                            model_file_, " has: ", absl::StrJoin(names, ", ")));
}

Outcome SpecFlags::ApplyScaling(RopeSpec& spec) const {
  std::string type = scaling_.type;
  if (type.empty() && !scaling_.inverse_frequencies.empty()) type = "frequencies";
  if (type == "none") spec.scaling = std::monostate();
  if (type == "linear") spec.scaling = LinearScaling();
  if (type == "llama3") spec.scaling = Llama3Scaling();
  if (type == "frequencies") spec.scaling = ExplicitFrequencies{scaling_.inverse_frequencies};
  auto* linear = std::get_if<LinearScaling>(&spec.scaling);
  auto* llama3 = std::get_if<Llama3Scaling>(&spec.scaling);
  const bool llama3_flags =
      scaling_.low_freq_factor || scaling_.high_freq_factor || scaling_.original_max_len;
  if (scaling_.factor && !linear && !llama3) return Usage("--factor needs --scaling linear or llama3");
  if (llama3_flags && !llama3) {
    return Usage("--low-freq-factor, --high-freq-factor and --original-max-len need --scaling llama3");
  }
  const bool frequencies = std::holds_alternative<ExplicitFrequencies>(spec.scaling);
  if (!scaling_.inverse_frequencies.empty() && !frequencies) {
    return Usage("--inverse-frequencies needs --scaling frequencies");
  }
  if (linear && type == "linear" && !scaling_.factor) return Usage("--scaling linear needs --factor");
  if (linear) linear->factor = scaling_.factor.value_or(linear->factor);
  if (llama3) {
    llama3->factor = scaling_.factor.value_or(llama3->factor);
    llama3->low_freq_factor = scaling_.low_freq_factor.value_or(llama3->low_freq_factor);
    llama3->high_freq_factor = scaling_.high_freq_factor.value_or(llama3->high_freq_factor);
    llama3->original_max_len = scaling_.original_max_len.value_or(llama3->original_max_len);
  }
  return {};
}

Outcome SpecFlags::Resolve(Client& client, const CallOptions& call, TableSpec& spec) const {
  spec = {.family = family_};
  if (!model_file_.empty()) {
    if (Outcome outcome = FromModel(client, call, spec); !outcome.ok()) return outcome;
  }
  for (const auto& set : setters_) set(spec);
  auto* rope = std::get_if<RopeSpec>(&spec.family);
  return rope ? ApplyScaling(*rope) : Outcome();
}

}  // namespace posenc::cli

// posenc plot heatmap | waveforms | decay | frequencies FAMILY, and posenc plot alibi: pictures of tables.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/commands/fetch.h"
#include "client/cli/flags/family_help.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/parse.h"
#include "client/cli/flags/selection_flags.h"
#include "client/cli/flags/spec_flags.h"
#include "client/cli/plot/gnuplot.h"
#include "client/cli/plot/plots.h"

namespace posenc::cli {
namespace {

// A kind of picture: what draws it, and the families that have it.
struct Kind {
  const char* name;
  const char* about;
  Outcome (*make)(const PlotRequest& request, Picture& picture);
  std::vector<std::string> families;
  const char* flags;  // of the example, after the family's own
};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"heatmap", "Every number as a colour, position by dimension", PlotHeatMap, FamilyCommands(), ""},
      {"waveforms", "Chosen dimensions over the positions, one panel each", PlotWaveforms,
       {"sinusoidal", "rope", "learned", "grid-sinusoidal"}, " --dims 0,1,30,31"},
      {"decay", "Scores of queries and keys by their offset", PlotDecay, {"rope", "sinusoidal"}, " --rows 0:256"},
      {"frequencies", "Wavelength of every pair, with and without scaling", PlotFrequencies,
       {"rope", "sinusoidal"}, ""},
  };
  return kinds;
}

// One kind of picture of one family.
class PlotCommand {
 public:
  PlotCommand(CLI::App& command, Session& session, const std::string& family,
              Outcome (*make)(const PlotRequest& request, Picture& picture))
      : session_(session), make_(make) {
    specs_.AddTo(command, family);
    selection_.AddTo(command, specs_.family());
    command.add_option("-o,--output", output_, "The picture: FILE.png, FILE.svg, or FILE.gp for the script")
        ->required()
        ->check(CheckPictureName, "", "")
        ->type_name("FILE");
    command.callback([this] { session_.action = [this] { return Execute(); }; });
  }

  // Declares --dims.
  void AddDimensions(CLI::App& command) {
    command
        .add_option_function<std::string>(
            "--dims", [this](const std::string& text) { dimensions_ = *ParsePositions(text); },
            "Dimensions (of a rotary table: pairs) to draw; default 0,1,30,31,100,101,300,301")
        ->check(Checked(ParsePositions), "", "")
        ->type_name("LIST")
        ->group("Selection");
  }

 private:
  Outcome Execute() {
    PlotRequest request{.session = session_, .selection = selection_.selection(), .dimensions = dimensions_};
    if (Outcome outcome = OpenSubject(session_, specs_, request.subject); !outcome.ok()) return outcome;
    Outcome outcome = DescribeSubject(session_, request.subject, request.description);
    if (!outcome.ok()) return outcome;
    Picture picture;
    if (outcome = make_(request, picture); !outcome.ok()) return outcome;
    return Draw(picture, output_);
  }

  Session& session_;
  Outcome (*make_)(const PlotRequest& request, Picture& picture);
  SpecFlags specs_;
  SelectionFlags selection_;
  std::vector<int64_t> dimensions_;
  std::string output_;
};

std::string FooterOf(const Kind& kind) {
  std::string text = "Examples:\n";
  for (const std::string& family : kind.families) {
    absl::StrAppend(&text, "  posenc plot ", kind.name, " ", family, " ", HelpOf(family).smallest, kind.flags,
                    " -o picture.png\n");
  }
  return text;
}

}  // namespace

void AddPlotCommand(CLI::App& app, Session& session) {
  CLI::App& parent = *app.add_subcommand("plot", "Draws a table with gnuplot: PNG or SVG");
  parent.require_subcommand(1);
  parent.footer(
      "Examples:\n"
      "  posenc plot heatmap sinusoidal --d-model 128 --rows 0:100 -o heatmap.png\n"
      "  posenc plot waveforms sinusoidal --d-model 512 --rows 0:200 -o waveforms.svg\n"
      "  posenc plot decay rope --head-dim 128 -o decay.png\n"
      "  posenc plot frequencies rope --model config.json -o frequencies.png\n"
      "  posenc plot alibi --heads 8 -o alibi.png");
  static std::vector<std::unique_ptr<PlotCommand>> commands;
  for (const Kind& kind : Kinds()) {
    CLI::App& group = *parent.add_subcommand(kind.name, kind.about);
    group.require_subcommand(1);
    group.footer(FooterOf(kind));
    for (const std::string& family : kind.families) {
      CLI::App& command = *group.add_subcommand(family, HelpOf(family).about);
      commands.push_back(std::make_unique<PlotCommand>(command, session, family, kind.make));
      if (absl::string_view(kind.name) == "waveforms") commands.back()->AddDimensions(command);
      command.footer(absl::StrCat("Example:\n  posenc plot ", kind.name, " ", family, " ", HelpOf(family).smallest,
                                  kind.flags, " -o picture.png"));
    }
  }
  CLI::App& alibi = *parent.add_subcommand("alibi", "ALiBi's bias by distance, and one head's bias as a heat map");
  alibi.footer("Examples:\n  posenc plot alibi --heads 8 -o alibi.png\n"
               "  posenc plot alibi --heads 12 --k 0:128 --head-range 3 -o alibi.svg");
  commands.push_back(std::make_unique<PlotCommand>(alibi, session, "alibi", PlotAlibi));
}

}  // namespace posenc::cli

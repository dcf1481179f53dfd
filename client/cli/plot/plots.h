// What each kind of picture shows of a table.
//
// Each function fetches what it draws and makes the script. Errors: usage errors for what cannot be drawn,
// RPC errors from fetching.

#ifndef POSENC_CLIENT_CLI_PLOT_PLOTS_H_
#define POSENC_CLIENT_CLI_PLOT_PLOTS_H_

#include <cstdint>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/commands/fetch.h"
#include "client/cli/plot/gnuplot.h"

namespace posenc::cli {

struct PlotRequest {
  const Session& session;
  Subject subject = {};
  TableDescription description = {};
  Selection selection = {};
  std::vector<int64_t> dimensions = {};  // of waveforms; empty: those of the tutorial that the table has
};

// The first 100 rows unless others are asked for; one panel for each tensor, or head.
Outcome PlotHeatMap(const PlotRequest& request, Picture& picture);

// Chosen dimensions over 200 rows unless others are asked for.
Outcome PlotWaveforms(const PlotRequest& request, Picture& picture);

// Scores of ones by offset, from two places of the table, and the bound of Su et al. 2021, section 3.4.3.
Outcome PlotDecay(const PlotRequest& request, Picture& picture);

// Wavelengths by pair, with the scaling and without.
Outcome PlotFrequencies(const PlotRequest& request, Picture& picture);

// Biases by distance for every head, and one head's heat map.
Outcome PlotAlibi(const PlotRequest& request, Picture& picture);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_PLOT_PLOTS_H_

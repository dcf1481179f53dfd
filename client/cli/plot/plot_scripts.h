// Scripts for gnuplot, with their data inside. Pure functions.

#ifndef POSENC_CLIENT_CLI_PLOT_PLOT_SCRIPTS_H_
#define POSENC_CLIENT_CLI_PLOT_PLOT_SCRIPTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/plot/gnuplot.h"

namespace posenc::cli {

// Rows of numbers; those that are not finite are left blank.
using Matrix = std::vector<std::vector<double>>;

// One panel of a heat map.
struct HeatPanel {
  std::string title = {};
  std::string row_label = "position";
  std::string column_label = "dimension";
  Matrix values = {};
  int64_t first_row = 0;
  int64_t first_column = 0;
  std::vector<std::string> row_names = {};  // instead of numbers
};

// Colours go from blue by white to red around 0, over -1 to 1 where all values are within it.
Picture HeatMap(const std::string& title, const std::vector<HeatPanel>& panels);

// A line: its points, and how it is drawn.
struct Curve {
  std::string name = {};
  std::vector<double> x = {};
  std::vector<double> y = {};
  std::string style = "lines linewidth 1.5";
};

struct Axes {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  bool log_y = false;
  std::string more = {};  // further lines of script
};

// All curves in one panel.
Picture Curves(const Axes& axes, const std::vector<Curve>& curves);

// Curves that share the horizontal axis, one small panel each, two side by side; y from -1.1 to 1.1 times
// `scale`.
struct WavePanel {
  std::string label = {};
  std::vector<Curve> curves = {};
};
Picture Waveforms(const std::string& title, const std::string& x_label, double scale,
                  const std::vector<WavePanel>& panels);

// Biases by distance, one line for each head, beside the heat map of one head.
Picture BiasPicture(const std::string& title, const std::vector<Curve>& heads, const HeatPanel& map);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_PLOT_PLOT_SCRIPTS_H_

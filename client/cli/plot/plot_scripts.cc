#include "client/cli/plot/plot_scripts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace posenc::cli {
namespace {

constexpr const char* kLook =
    "set border linewidth 0.8 linecolor rgb '#444444'\n"
    "set tics nomirror out scale 0.6\n"
    "set grid linecolor rgb '#dddddd' linewidth 0.6\n"
    "set key noenhanced\n"
    "set autoscale xfix\n";

// Blue, white, red: the numbers' sign is seen at once, and zero is white.
constexpr const char* kPalette =
    "set palette defined (-1 '#053061', -0.75 '#2166ac', -0.5 '#4393c3', -0.25 '#92c5de', 0 '#ffffff', "
    "0.25 '#f4a582', 0.5 '#d6604d', 0.75 '#b2182b', 1 '#67001f')\n";

// Colours of lines: those of the Okabe-Ito set, which people with any sight can tell apart.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                 "#e69f00", "#56b4e9", "#000000", "#999999"};

std::string Number(double value) { return std::isfinite(value) ? absl::StrFormat("%.9g", value) : "NaN"; }

std::string Block(const std::string& name, const Matrix& rows) {
  std::string text = absl::StrCat("$", name, " << EOD\n");
  for (const std::vector<double>& row : rows) {
    for (double value : row) absl::StrAppend(&text, Number(value), " ");
    text += '\n';
  }
  return text + "EOD\n";
}

std::string CurveBlock(const std::string& name, const Curve& curve) {
  Matrix rows;
  for (size_t i = 0; i < curve.x.size(); ++i) rows.push_back({curve.x[i], curve.y[i]});
  return Block(name, rows);
}

double LargestMagnitude(const std::vector<HeatPanel>& panels) {
  double largest = 0;
  for (const HeatPanel& panel : panels) {
    for (const std::vector<double>& row : panel.values) {
      for (double value : row) {
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
      }
    }
  }
  return largest;
}

std::string RowTics(const HeatPanel& panel) {
  if (panel.row_names.empty()) return "set ytics auto\n";
  const size_t step = std::max<size_t>(1, (panel.row_names.size() + 29) / 30);
  std::string text = "set ytics (";
  for (size_t i = 0; i < panel.row_names.size(); i += step) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", Quoted(panel.row_names[i]), " ", i);
  }
  return text + ")\n";
}

// gnuplot draws no image of a single row or column: there it gets the same once more, which lies outside of
// the axes.
Matrix Drawable(Matrix values) {
  for (std::vector<double>& row : values) {
    if (row.size() == 1) row.push_back(row.front());
  }
  if (values.size() == 1) values.push_back(values.front());
  return values;
}

std::string HeatScript(const std::string& block, const HeatPanel& panel, double limit) {
  const auto rows = static_cast<int64_t>(panel.values.size());
  const auto columns = static_cast<int64_t>(panel.values.empty() ? 0 : panel.values.front().size());
  const int64_t first_row = panel.row_names.empty() ? panel.first_row : 0;
  return absl::StrCat(
      Block(block, Drawable(panel.values)), "set title ", Quoted(panel.title), " noenhanced\nset xlabel ",
      Quoted(panel.column_label), "\nset ylabel ", Quoted(panel.row_label), "\n", RowTics(panel), "set xrange [",
      panel.first_column, "-0.5:", panel.first_column + columns, "-0.5]\nset yrange [", first_row + rows,
      "-0.5:", first_row, "-0.5]\nset cbrange [", Number(-limit), ":", Number(limit), "]\nplot $", block,
      " matrix using ($1+", panel.first_column, "):($2+", first_row, "):3 with image notitle\n");
}

std::string HeatLook() {
  return absl::StrCat(kLook, kPalette, "unset grid\nunset key\nset cblabel 'value'\n");
}

double HeatLimit(const std::vector<HeatPanel>& panels) {
  const double largest = LargestMagnitude(panels);
  return largest <= 1 && largest > 0.1 ? 1 : largest > 0 ? largest : 1;
}

}  // namespace

Picture HeatMap(const std::string& title, const std::vector<HeatPanel>& panels) {
  Picture picture{.width_pixels = panels.size() > 1 ? 1500 : 1100,
                  .height_pixels = panels.size() > 2 ? 1200 : 720};
  const size_t across = panels.size() > 1 ? 2 : 1;
  const size_t down = (panels.size() + across - 1) / across;
  picture.script = absl::StrCat(HeatLook(), "set multiplot layout ", down, ",", across, " title ",
                                Quoted(title), " noenhanced\n");
  for (size_t i = 0; i < panels.size(); ++i) {
    absl::StrAppend(&picture.script, HeatScript(absl::StrCat("panel", i), panels[i], HeatLimit(panels)));
  }
  absl::StrAppend(&picture.script, "unset multiplot\n");
  return picture;
}

Picture Curves(const Axes& axes, const std::vector<Curve>& curves) {
  std::string script = kLook;
  for (size_t i = 0; i < curves.size(); ++i) {
    absl::StrAppend(&script, CurveBlock(absl::StrCat("curve", i), curves[i]));
  }
  absl::StrAppend(&script, "set title ", Quoted(axes.title), " noenhanced\nset xlabel ", Quoted(axes.x_label),
                  "\nset ylabel ", Quoted(axes.y_label), "\nset key top right opaque\n",
                  axes.log_y ? "set logscale y\nset format y '10^{%T}'\n" : "", axes.more, "plot ");
  for (size_t i = 0; i < curves.size(); ++i) {
    absl::StrAppend(&script, i == 0 ? "" : ", ", "$curve", i, " using 1:2 with ", curves[i].style,
                    " linecolor rgb '", kColours[i % kColours.size()], "' title ", Quoted(curves[i].name));
  }
  return {.script = script + "\n"};
}

Picture Waveforms(const std::string& title, const std::string& x_label, double scale,
                  const std::vector<WavePanel>& panels) {
  const size_t across = panels.size() > 1 ? 2 : 1;
  const size_t down = (panels.size() + across - 1) / across;
  Picture picture{.width_pixels = across > 1 ? 1300 : 900, .height_pixels = static_cast<int>(110 + 190 * down)};
  std::string& script = picture.script;
  script = absl::StrCat(kLook, "set yrange [", Number(-1.1 * scale), ":", Number(1.1 * scale), "]\n",
                        "set ytics ", Number(scale), "\nset key top right opaque\n");
  for (size_t i = 0; i < panels.size(); ++i) {
    for (size_t j = 0; j < panels[i].curves.size(); ++j) {
      absl::StrAppend(&script, CurveBlock(absl::StrCat("curve", i, "_", j), panels[i].curves[j]));
    }
  }
  absl::StrAppend(&script, "set multiplot layout ", down, ",", across, " rowsfirst title ", Quoted(title),
                  " noenhanced margins 0.07,0.985,", down > 2 ? "0.075,0.925" : "0.13,0.88", " spacing 0.06,0.035\n");
  for (size_t i = 0; i < panels.size(); ++i) {
    const bool lowest = i + across >= panels.size();
    absl::StrAppend(&script, lowest ? absl::StrCat("set xlabel ", Quoted(x_label), "\nset format x '%g'\n")
                                    : "unset xlabel\nset format x ''\n",
                    "set ylabel ", Quoted(panels[i].label), "\nplot ");
    for (size_t j = 0; j < panels[i].curves.size(); ++j) {
      const Curve& curve = panels[i].curves[j];
      absl::StrAppend(&script, j == 0 ? "" : ", ", "$curve", i, "_", j, " using 1:2 with ", curve.style,
                      " linecolor rgb '", kColours[(panels[i].curves.size() > 1 ? j : i) % kColours.size()], "' ",
                      curve.name.empty() ? "notitle" : absl::StrCat("title ", Quoted(curve.name)));
    }
    script += '\n';
  }
  script += "unset multiplot\n";
  return picture;
}

Picture BiasPicture(const std::string& title, const std::vector<Curve>& heads, const HeatPanel& map) {
  Picture picture{.width_pixels = 1500, .height_pixels = 680};
  std::string& script = picture.script;
  script = kLook;
  for (size_t i = 0; i < heads.size(); ++i) {
    absl::StrAppend(&script, CurveBlock(absl::StrCat("head", i), heads[i]));
  }
  absl::StrAppend(&script, "set multiplot layout 1,2 title ", Quoted(title),
                  " noenhanced\nset xlabel 'distance between query and key'\nset ylabel 'bias'\n"
                  "set title 'Bias of each head by distance'\nset key bottom left opaque",
                  heads.size() > 8 ? " maxrows 8" : "", "\n",
                  // From red for the steepest head to blue for the flattest.
                  "set palette defined (0 '#b2182b', 0.5 '#e6b800', 1 '#2166ac')\nunset colorbox\n"
                  "set cbrange [0:", std::max<size_t>(heads.size(), 2) - 1, "]\n", "plot ");
  for (size_t i = 0; i < heads.size(); ++i) {
    absl::StrAppend(&script, i == 0 ? "" : ", ", "$head", i, " using 1:2 with ", heads[i].style,
                    " linecolor palette cb ", i, heads.size() <= 32 ? absl::StrCat(" title ", Quoted(heads[i].name))
                                                                  : " notitle");
  }
  absl::StrAppend(&script, "\nset colorbox\n", HeatLook(), HeatScript("map", map, HeatLimit({map})),
                  "unset multiplot\n");
  return picture;
}

}  // namespace posenc::cli

// Draws a picture with gnuplot, which is looked for when it is needed.
//
// The script goes to gnuplot by its standard input and the picture comes back by its standard output, so that
// no name of a file passes through gnuplot's language, and a picture appears whole or not at all.
//
// Threads: one. Errors: a usage error where there is no gnuplot, naming the package; a file error with
// gnuplot's own words on stderr where it fails.

#ifndef POSENC_CLIENT_CLI_PLOT_GNUPLOT_H_
#define POSENC_CLIENT_CLI_PLOT_GNUPLOT_H_

#include <string>

#include "client/cli/outcome.h"

namespace posenc::cli {

struct Picture {
  int width_pixels = 1100;
  int height_pixels = 700;
  std::string script = {};  // without terminal and output
};

// What is wrong with the name of a picture, or nothing: allowed are .png, .svg, and .gp for the script.
std::string CheckPictureName(const std::string& path);

// Draws into `path`; its ending says the format.
Outcome Draw(const Picture& picture, const std::string& path);

// A text as a string of gnuplot's language.
std::string Quoted(const std::string& text);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_PLOT_GNUPLOT_H_

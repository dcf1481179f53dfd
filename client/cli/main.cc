#include "client/cli/command.h"

int main(int argc, char** argv) { return posenc::cli::Run(argc, argv); }

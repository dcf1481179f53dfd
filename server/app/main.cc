// posenc-server: positional-encoding tables over gRPC.

#include "server/app/run.h"

int main(int argc, char** argv) { return posenc::RunServer({argv + 1, argv + argc}); }

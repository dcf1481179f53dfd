// Sends GOAWAY to the clients of a running server.
//
// gRPC's own Server::Shutdown refuses calls first and tells the clients afterwards: what arrives in between
// is answered with CANCELLED, which no client may take for "never begun". Told first, clients send no new
// calls here, and what was on its way is UNAVAILABLE when its connection closes.

#ifndef POSENC_SERVER_APP_LISTENERS_GOAWAY_H_
#define POSENC_SERVER_APP_LISTENERS_GOAWAY_H_

#include <grpcpp/server.h>

namespace posenc {

// Connections that exist take no new calls from now on, finish those that run, and close. Returns before
// every connection has done so. Must not be called on a gRPC thread.
void SendGoaways(grpc::Server& server);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_GOAWAY_H_

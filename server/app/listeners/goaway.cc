#include "server/app/listeners/goaway.h"

#include <grpc/grpc.h>
#include <grpc/support/time.h>
#include <grpcpp/alarm.h>

#include "absl/synchronization/notification.h"

// grpc_core::Server::SendGoaways(), which gRPC 1.51 exports and no public header declares; a grpc_server is
// the address of that class. Weak: with a library that has it no more, a stop is as gRPC makes it.
extern "C" void PosencServerSendGoaways(grpc_server* server)
    __asm__("_ZN9grpc_core6Server11SendGoawaysEv") __attribute__((weak));

namespace posenc {

void SendGoaways(grpc::Server& server) {
  if (PosencServerSendGoaways == nullptr) return;
  // It needs gRPC's execution context, which only gRPC's own threads have: an alarm's call-back runs on one.
  absl::Notification sent;
  grpc::Alarm now;
  now.Set(gpr_now(GPR_CLOCK_MONOTONIC), [&](bool) {
    PosencServerSendGoaways(server.c_server());
    sent.Notify();
  });
  sent.WaitForNotification();
}

}  // namespace posenc

"""SIGTERM: health says so, watchers are finished, the calls that run end well, the program exits with 0."""

import signal
import threading
import unittest

import grpc
from harness import DEADLINE, ServerProcess, message
from posenc.v1 import positional_encoding_service_pb2 as service
from posenc.v1 import positional_encoding_service_pb2_grpc as service_grpc
from posenc.v1 import sinusoidal_spec_pb2, spec_pb2

NOT_SERVING = 2


class DrainTest(unittest.TestCase):
    def watch(self, channel):
        call = channel.unary_stream(
            "/grpc.health.v1.Health/Watch", request_serializer=lambda request: request.SerializeToString(),
            response_deserializer=message("grpc.health.v1.HealthCheckResponse").FromString)
        return call(message("grpc.health.v1.HealthCheckRequest")(), timeout=DEADLINE)

    def test_idle_server_exits_with_zero(self):
        for stop in (signal.SIGTERM, signal.SIGINT):
            with ServerProcess() as server:
                server.process.send_signal(stop)
                self.assertEqual(server.process.wait(DEADLINE), 0)

    def test_watchers_are_told_and_finished(self):
        with ServerProcess() as server, server.channel() as channel:
            watch = self.watch(channel)
            next(watch)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual([answer.status for answer in watch], [NOT_SERVING])
            self.assertEqual(server.process.wait(DEADLINE), 0)

    def test_running_stream_is_finished_whole(self):
        with ServerProcess("--drain-timeout", "60s") as server, server.channel() as channel:
            stub = service_grpc.PositionalEncodingServiceStub(channel)
            spec = spec_pb2.TableSpec(sinusoidal=sinusoidal_spec_pb2.SinusoidalSpec(d_model=1024, max_len=65536))
            stream = stub.StreamSlice(service.StreamSliceRequest(spec=spec), timeout=DEADLINE)
            rows = next(stream).row_count
            server.process.send_signal(signal.SIGTERM)
            server.wait_for("drain begins")
            rows += sum(chunk.row_count for chunk in stream)
            self.assertEqual(rows, 65536)
            self.assertEqual(server.process.wait(DEADLINE), 0)

    def test_no_call_is_lost_under_load(self):
        """What was accepted is answered, what was not is UNAVAILABLE: no other code may be seen."""
        spec = spec_pb2.TableSpec(sinusoidal=sinusoidal_spec_pb2.SinusoidalSpec(d_model=8, max_len=16))
        for _ in range(6):
            with ServerProcess() as server:
                codes, loaded = set(), threading.Semaphore(0)
                clients = [threading.Thread(target=self.call_until_gone, args=(server, spec, codes, loaded))
                           for _ in range(4)]
                for client in clients:
                    client.start()
                for _ in range(200):
                    self.assertTrue(loaded.acquire(timeout=DEADLINE))
                server.process.send_signal(signal.SIGTERM)
                self.assertEqual(server.process.wait(DEADLINE), 0)
                for client in clients:
                    client.join(DEADLINE)
                self.assertEqual(codes, {grpc.StatusCode.UNAVAILABLE})

    @staticmethod
    def call_until_gone(server, spec, codes, loaded):
        options = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
        with grpc.insecure_channel(server.target, options=options) as channel:
            stub = service_grpc.PositionalEncodingServiceStub(channel)
            while True:
                calls = [stub.GetSlice.future(service.GetSliceRequest(spec=spec), timeout=DEADLINE)
                         for _ in range(8)]
                faults = [call.code() for call in calls if call.code() != grpc.StatusCode.OK]
                loaded.release(len(calls))
                if faults:
                    codes.update(faults)
                    return


if __name__ == "__main__":
    unittest.main()

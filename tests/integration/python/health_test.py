"""Health and reflection, as every gRPC tool expects them."""

import unittest

import grpc
from harness import DEADLINE, ServerTest, message

HEALTH = "/grpc.health.v1.Health/"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
SERVICES = ("posenc.v1.PositionalEncodingService", "posenc.v1.TableAdminService")
SERVING = 1


class HealthTest(ServerTest):
    def request(self, service):
        return message("grpc.health.v1.HealthCheckRequest")(service=service)

    def method(self, kind, name):
        return kind(HEALTH + name,
                    request_serializer=lambda request: request.SerializeToString(),
                    response_deserializer=message("grpc.health.v1.HealthCheckResponse").FromString)

    def test_check_says_serving_for_every_name(self):
        check = self.method(self.channel.unary_unary, "Check")
        for service in ("", "liveness") + SERVICES:
            with self.subTest(service=service):
                self.assertEqual(check(self.request(service), timeout=DEADLINE).status, SERVING)

    def test_check_of_an_unknown_name_is_not_found(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.method(self.channel.unary_unary, "Check")(self.request("nobody"), timeout=DEADLINE)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_watch_says_serving_first(self):
        watch = self.method(self.channel.unary_stream, "Watch")(self.request(""), timeout=DEADLINE)
        self.assertEqual(next(watch).status, SERVING)
        watch.cancel()


class ReflectionTest(ServerTest):
    def ask(self, **request):
        call = self.channel.stream_stream(
            REFLECTION, request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=message("grpc.reflection.v1alpha.ServerReflectionResponse").FromString)
        requests = iter([message("grpc.reflection.v1alpha.ServerReflectionRequest")(**request)])
        return next(call(requests, timeout=DEADLINE))

    def test_every_service_is_listed(self):
        listing = self.ask(list_services="").list_services_response
        names = {service.name for service in listing.service}
        self.assertLessEqual(set(SERVICES) | {"grpc.health.v1.Health"}, names)

    def test_file_of_a_service_is_sent(self):
        answer = self.ask(file_containing_symbol=SERVICES[0])
        files = b"".join(answer.file_descriptor_response.file_descriptor_proto)
        self.assertIn(b"StreamSlice", files)


if __name__ == "__main__":
    unittest.main()

"""HAProxy and nginx with our sample configurations in front of two real servers, one of which goes while it is used."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

from metrics_page import BINARIES, DEADLINE, DEPLOY, ServerProcess

TABLE = ("rope", "--head-dim", "128", "--max-len", "65536")
# Debian's daemons lie where only root's PATH leads.
PATH = os.environ["PATH"] + ":/usr/sbin"


def posenc(*arguments, binary=False):
    done = subprocess.run([BINARIES / "posenc", *arguments], capture_output=True, timeout=DEADLINE)
    if done.returncode != 0:
        raise AssertionError(f"posenc {' '.join(arguments)}: {done.stderr.decode()}")
    return done.stdout if binary else done.stdout.decode()


class ProxyTest:
    """What holds for either proxy; `command` and `configuration` say how it is started, listening on a Unix socket."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder.chmod(0o755)
        self.servers = [self.enterContext(ServerProcess(*self.SERVER_FLAGS)) for _ in range(2)]
        self.socket = self.folder / "grpc.sock"
        self.target = f"unix:{self.socket}"
        config = self.folder / "proxy.conf"
        config.write_text(self.configuration())
        log = self.enterContext(open(self.folder / "log", "w"))
        self.proxy = subprocess.Popen(self.command(config), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                      env={**os.environ, "PATH": PATH})
        self.addCleanup(self.proxy.wait, DEADLINE)
        self.addCleanup(self.proxy.terminate)
        self.wait_until(self.is_serving)

    def is_serving(self):
        return subprocess.run([BINARIES / "posenc", "health", "--server", self.target], capture_output=True,
                              timeout=DEADLINE).returncode == 0

    def wait_until(self, condition):
        pause = threading.Event()
        for _ in range(DEADLINE * 20):
            if condition():
                return
            self.assertIsNone(self.proxy.poll(), (self.folder / "log").read_text())
            pause.wait(0.05)
        self.fail("it never happened; the proxy says:\n" + (self.folder / "log").read_text())

    def rewritten(self, name, listen):
        """A sample configuration, but for the ports of servers and the place where the proxy listens."""
        text = (DEPLOY / "proxies" / name).read_text()
        for number, server in enumerate(self.servers):
            text = text.replace(f"127.0.0.1:{50051 + number}", f"127.0.0.1:{server.port}")
            text = text.replace(f"port {9464 + number}", f"port {server.admin_port}")
        self.assertIn(listen, text)
        return text.replace(listen, listen.split()[0] + f" {self.LISTEN_PREFIX}{self.socket}", 1)

    def calls_of(self, server):
        page = server.admin("/metrics")
        return sum(float(value) for value in re.findall(
            r'^grpc_server_started_total\{grpc_method="(?:GetSlice|StreamSlice)".*\} (\S+)$', page, re.M))

    def test_small_answers_and_streams_are_the_same_bytes(self):
        for rows in (("--rows", "0:64"), ()):
            with self.subTest(rows=rows):
                request = (*TABLE, *rows, "--format", "raw")
                through = posenc(*request, "--server", self.target, binary=True)
                self.assertTrue(through == posenc(*request, "--local", binary=True))
                self.assertEqual(len(through), (64 if rows else 65536) * 128 * 4)

    def test_health_and_state_come_through(self):
        self.assertIn("SERVING", posenc("health", "--server", self.target))
        self.assertIn("0.1.0", posenc("stats", "--server", self.target))

    def test_errors_come_through_with_their_words(self):
        done = subprocess.run([BINARIES / "posenc", "rope", "--head-dim", "127", "--server", self.target],
                              capture_output=True, text=True, timeout=DEADLINE)
        self.assertIn("INVALID_ARGUMENT", done.stderr)
        self.assertIn("head_dim", done.stderr)

    def test_when_a_server_is_killed_the_other_answers(self):
        self.servers[0].process.kill()
        self.servers[0].process.wait(DEADLINE)
        self.wait_until(self.is_serving)
        before = self.calls_of(self.servers[1])
        for rows in (("--rows", "0:64"), ()):
            request = (*TABLE, *rows, "--format", "raw")
            through = posenc(*request, "--server", self.target, binary=True)
            self.assertTrue(through == posenc(*request, "--local", binary=True))
        self.assertGreaterEqual(self.calls_of(self.servers[1]) - before, 2)


@unittest.skipUnless(shutil.which("haproxy", path=PATH), "haproxy is not installed")
class HaproxyTest(ProxyTest, unittest.TestCase):
    LISTEN_PREFIX = "unix@"
    # Longer than the second within which the checks notice.
    SERVER_FLAGS = ("--drain-delay", "2s")

    def configuration(self):
        return self.rewritten("haproxy.cfg", "bind :50050")

    def command(self, config):
        return ["haproxy", "-db", "-f", config]

    def test_no_call_fails_when_a_server_drains(self):
        load = subprocess.Popen(
            [BINARIES / "posenc", "bench", *TABLE, "--rows", "0:8", "--clients", "4", "--duration", "6s", "--server",
             self.target], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with load:
            self.wait_until(lambda: all(self.calls_of(server) >= 1 for server in self.servers))
            self.servers[0].process.terminate()
            self.servers[0].process.wait(DEADLINE)
            self.assertIsNone(load.poll(), "the load ended before the server did")
            message = load.stderr.read().decode()
        self.assertEqual(load.returncode, 0, message)


@unittest.skipUnless(shutil.which("nginx", path=PATH), "nginx is not installed")
class NginxTest(ProxyTest, unittest.TestCase):
    LISTEN_PREFIX = "unix:"
    SERVER_FLAGS = ()

    def configuration(self):
        return self.rewritten("nginx.conf", "listen 50050")

    def command(self, config):
        user = "user root;" if os.geteuid() == 0 else ""
        return ["nginx", "-p", self.folder, "-c", config, "-g", f"daemon off; pid {self.folder}/pid; {user}"]

    def test_without_a_server_calls_are_unavailable(self):
        for server in self.servers:
            server.process.kill()
            server.process.wait(DEADLINE)
        done = subprocess.run([BINARIES / "posenc", *TABLE, "--rows", "0:1", "--timeout", "5s", "--server", self.target],
                              capture_output=True, text=True, timeout=DEADLINE)
        self.assertIn("UNAVAILABLE", done.stderr)
        self.assertIn("no posenc-server answers", done.stderr)


if __name__ == "__main__":
    unittest.main()

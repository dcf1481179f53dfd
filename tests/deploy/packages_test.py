"""The Debian packages that CPack makes: what is in them, what they need, and that their server runs from them."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from metrics_page import DEPLOY, ServerProcess

LIMIT = 500


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class PackagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        # The quickest compression; the packages are thrown away.
        run(os.environ["POSENC_CPACK"], "--config", os.environ["POSENC_CPACK_CONFIG"], "-B", cls.folder,
            "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
        cls.packages = {path.name.split("_")[0]: path for path in cls.folder.glob("*.deb")}

    def field(self, package, name):
        return run("dpkg-deb", "--field", self.packages[package], name)

    def files(self, package):
        lines = run("dpkg-deb", "--contents", self.packages[package]).splitlines()
        self.assertTrue(all(" root/root " in line for line in lines))
        return {line.split()[5].removeprefix(".") for line in lines if not line.endswith("/")}

    def unpacked(self, package):
        root = self.folder / f"{package}-root"
        run("dpkg-deb", "--extract", self.packages[package], root)
        return root

    def test_there_are_three(self):
        self.assertEqual(set(self.packages), {"posenc-server", "posenc", "libposenc-dev"})

    def test_each_has_its_files_and_no_other(self):
        self.assertEqual(self.files("posenc-server"), {
            "/usr/bin/posenc-server", "/lib/systemd/system/posenc-server.service", "/etc/posenc/server.toml"})
        self.assertEqual(self.files("posenc"), {"/usr/bin/posenc"})
        library = self.files("libposenc-dev")
        self.assertLessEqual({"/usr/include/posenc/client.h", "/usr/lib/libposenc_client.a",
                              "/usr/lib/cmake/posenc/posenc-config.cmake"}, library)
        self.assertTrue(all(name.startswith(("/usr/include/posenc/", "/usr/lib/")) for name in library))

    def test_programs_need_the_libraries_that_they_link(self):
        for package in ("posenc-server", "posenc"):
            self.assertRegex(self.field(package, "Depends"), r"libgrpc\+\+1\.51 ")
        self.assertIn("adduser", self.field("posenc-server", "Depends"))

    def test_library_needs_what_its_cmake_file_looks_for(self):
        config = (DEPLOY.parent / "client/posenc-config.cmake.in").read_text()
        packages = {"Protobuf": "libprotobuf-dev", "gRPC": "libgrpc++-dev", "absl": "libabsl-dev",
                    "OpenSSL": "libssl-dev", "nlohmann_json": "nlohmann-json3-dev", "PkgConfig": "pkg-config",
                    "hwy": "libhwy-dev", "mpfr": "libmpfr-dev", "isal": "libisal-dev"}
        wanted = re.findall(r"(?:find_dependency|pkg_check_modules)\((\w+)", config)
        depends = self.field("libposenc-dev", "Depends")
        for name in wanted:
            self.assertIn(packages[name], depends)

    def test_configuration_is_kept_when_its_owner_changes_it(self):
        self.assertEqual(run("dpkg-deb", "--info", self.packages["posenc-server"], "conffiles"),
                         "/etc/posenc/server.toml\n")

    def test_scripts_are_read_by_sh(self):
        for script in ("postinst", "prerm", "postrm"):
            text = run("dpkg-deb", "--info", self.packages["posenc-server"], script)
            subprocess.run(["sh", "-n"], input=text, text=True, check=True)
            self.assertIn("set -e", text)

    def test_packaged_server_serves_with_the_packaged_configuration(self):
        root = self.unpacked("posenc-server")
        config = (root / "etc/posenc/server.toml").read_text()
        config = config.replace("/run/posenc/", f"{self.folder}/")
        (self.folder / "server.toml").write_text(config)
        with ServerProcess("--config", self.folder / "server.toml", program=root / "usr/bin/posenc-server") as server:
            self.assertIn("posenc_ready 1\n", server.admin("/metrics"))
            client = self.unpacked("posenc") / "usr/bin/posenc"
            self.assertIn("SERVING", run(client, "health", "--server", f"127.0.0.1:{server.port}"))


if __name__ == "__main__":
    unittest.main()

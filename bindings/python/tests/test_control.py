"""The examples of controllers in another process, in Python and in Octave."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import moreau
from common import ROOT


class Link(unittest.TestCase):
    def run_with(self, address, controller):
        other = subprocess.Popen(controller, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = subprocess.run([moreau.command(), "run", "plate_arm", "--steps", "50", "--quiet", "--control", address],
                              stderr=subprocess.PIPE, text=True, timeout=60)
        out, err = other.communicate(timeout=30)
        self.assertEqual(said.returncode, 0, said.stderr + out + err)
        self.assertIn("held 1 robot(s)", out)

    def test_the_example_in_python(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.sock")
            self.run_with("unix:" + path, [sys.executable, os.path.join(ROOT, "examples/control/hold.py"), path])
            self.assertFalse(os.path.exists(path))

    def test_the_example_in_plain_octave(self):
        if not shutil.which("octave-cli"):
            self.skipTest("SKIP Octave is not installed")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm")
            self.run_with("fifo:" + path, ["octave-cli", "--quiet", "--no-init-file", "--no-history",
                                           os.path.join(ROOT, "examples/control/hold_plain.m"), path])
            self.assertEqual(os.listdir(folder), [])

    def test_nobody_there(self):
        with self.assertRaisesRegex(moreau.Error, "no simulator came"):
            moreau.connect("/tmp/moreau-nobody-%d.sock" % os.getpid(), timeout=0.1)


if __name__ == "__main__":
    unittest.main()

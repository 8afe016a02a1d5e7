"""The examples of controllers in another process, in Python and in Octave."""
import json
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

    def test_a_world_of_python_is_controlled_as_the_command_is(self):
        hold = os.path.join(ROOT, "examples/control/hold.py")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.sock")
            for pace in (0.0, 1000.0):
                other = subprocess.Popen([sys.executable, hold, path], stdout=subprocess.PIPE, text=True)
                world = moreau.World("plate_arm")
                with moreau.serve(world, path, timeout=60, pace=pace):
                    world.step(50)
                self.assertIn("held 1 robot(s)", other.communicate(timeout=60)[0])
                self.assertFalse(os.path.exists(path))
                world.step(2)  # on its own
            other = subprocess.Popen([sys.executable, hold, path], stdout=subprocess.DEVNULL)
            said = subprocess.run([moreau.command(), "run", "plate_arm", "--steps", "50", "--json", "--quiet", "--control",
                                   "unix:" + path, "--control-timeout", "60"], stdout=subprocess.PIPE, text=True)
            other.wait(timeout=60)
            other = subprocess.Popen([sys.executable, hold, path], stdout=subprocess.DEVNULL)
            world = moreau.World("plate_arm")
            with moreau.serve(world, path, timeout=60):
                world.step(50)
            other.wait(timeout=60)
            self.assertEqual(world.state_hash, json.loads(said.stdout)["state_hash"])

    def test_a_controller_that_goes_away_or_talks_nonsense(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.sock")
            code = ("import socket, sys, time\ns = socket.socket(socket.AF_UNIX)\nwhile True:\n"
                    "    try:\n        s.connect(sys.argv[1]); break\n    except OSError: time.sleep(0.01)\n"
                    "s.recv(48); s.recv(16); s.sendall(sys.argv[2].encode()); s.close()")
            for answer, sentence in (("", "has gone"), ("HELLO, I AM NO CONTROLLER", "MOR1")):
                other = subprocess.Popen([sys.executable, "-c", code, path, answer])
                world = moreau.World("plate_arm")
                with moreau.serve(world, path, timeout=60):
                    with self.assertRaisesRegex(moreau.Error, sentence):
                        world.step(3)
                self.assertEqual(world.steps, 0)
                other.wait(timeout=60)
            with self.assertRaisesRegex(moreau.Error, "no controller came"):
                moreau.serve(moreau.World("plate_arm"), path, timeout=0.1)
            with self.assertRaisesRegex(moreau.BadInput, "no robot"):
                moreau.serve(moreau.World("bounce"), path)
            self.assertEqual(os.listdir(folder), [])

    def test_nobody_there(self):
        with self.assertRaisesRegex(moreau.Error, "no simulator came"):
            moreau.connect("/tmp/moreau-nobody-%d.sock" % os.getpid(), timeout=0.1)


if __name__ == "__main__":
    unittest.main()

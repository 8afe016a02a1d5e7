"""Worlds: the bits of the command, live views, errors, callbacks that raise, hosts that change the arithmetic."""
import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import moreau
from common import SCENES

BALL = {"time": {"step": 0.01}, "bodies": [
    {"name": "floor", "shape": "plane", "fixed": True},
    {"name": "ball", "shape": {"sphere": 0.5}, "mass": 1, "position": [0, 0, 2]}]}


def command(*words):
    return subprocess.run([moreau.command(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Bits(unittest.TestCase):
    def test_twenty_scenes_have_the_hash_of_the_command(self):
        checked = 0
        for name in SCENES:
            said = command("run", name, "--steps", "40", "--json", "--quiet")
            self.assertIn(said.returncode, (0, 1), said.stderr)
            expected = json.loads(said.stdout)
            got = moreau.run(name, 40)
            self.assertEqual(got["state_hash"], expected["state_hash"], name)
            self.assertEqual(got["energy"], expected["energy"], name)
            world = moreau.World(name)
            try:
                world.step(40)
            except moreau.NotSolved:
                self.assertNotEqual(expected["failures"], 0)
            self.assertEqual(world.state_hash, expected["state_hash"], name)
            checked += 1
        self.assertGreaterEqual(checked, 20)

    def test_one_call_of_n_steps_equals_n_calls(self):
        a, b = moreau.World("stack"), moreau.World("stack")
        a.step(30)
        for _ in range(30):
            b.step()
        self.assertEqual(a.state_hash, b.state_hash)

    def test_threads_do_not_change_bits(self):
        a, b = moreau.World("s2"), moreau.World("s2", threads=2)
        a.step(30), b.step(30)
        self.assertEqual(a.state_hash, b.state_hash)

    def test_runs_to_the_end_and_variable_steps(self):
        for options in ([], ["--set", "time.step=adaptive"]):
            said = command("run", "bounce", "--time", "0.7", "--json", *options)
            keys = {"time.end": 0.7, **({"time.step": "adaptive"} if options else {})}
            self.assertEqual(moreau.run("bounce", set=keys)["state_hash"], json.loads(said.stdout)["state_hash"])
            w = moreau.World("bounce", set=keys)
            w.advance(0.7)
            self.assertEqual(w.state_hash, json.loads(said.stdout)["state_hash"])

    def test_overrides_are_those_of_the_command(self):
        said = command("run", "bounce", "--step", "0.002", "--set", "bodies.wood.mass=2", "--steps", "50", "--json")
        got = moreau.World("bounce", step=0.002, set={"bodies.wood.mass": 2})
        got.step(50)
        self.assertEqual(got.state_hash, json.loads(said.stdout)["state_hash"])

    def test_a_scene_in_code_equals_its_dictionary_and_its_file(self):
        scene = moreau.Scene(step=0.01).body("floor", shape="plane", fixed=True)
        scene.body("ball", shape={"sphere": 0.5}, mass=1, position=np.array([0, 0, 2.0]))
        live = moreau.World(step=0.01)
        live.add_body("floor", "plane", kind="fixed")
        live.add_body("ball", {"sphere": 0.5}, mass=1, position=[0, 0, 2])
        worlds = [moreau.World(scene), moreau.World(BALL), live]
        for w in worlds:
            w.step(100)
        self.assertEqual(len({w.state_hash for w in worlds}), 1)


class State(unittest.TestCase):
    def test_infinity_in_a_dictionary(self):
        urdf = moreau.__path__[0] + "/scenes/robots/arm2.urdf"
        scene = moreau.Scene(name='"Infinity" \\ NaN').robot("arm", urdf=urdf, motors={"torque_limit": float("inf")})
        world = moreau.World(scene)
        world.step(2)
        self.assertEqual(world.scene.name, '"Infinity" \\ NaN')
        with self.assertRaises(moreau.BadInput):
            moreau.World({"bodies": [{"name": "a", "shape": {"sphere": float("inf")}, "mass": 1}]})
        with self.assertRaises(moreau.BadInput):
            moreau.World({"bodies": [{"name": "a", "shape": {"sphere": 1}, "mass": float("nan")}]})

    def test_free_fall_is_the_sum_of_its_steps(self):
        w = moreau.World(BALL)
        w.step(20)
        self.assertAlmostEqual(w.body("ball").position[2], 2 - 9.81 * 0.01 ** 2 * 20 * 21 / 2, places=13)
        self.assertAlmostEqual(w.energy.kinetic, 0.5 * (9.81 * 0.2) ** 2, places=12)

    def test_views_follow_the_world_and_cannot_be_written(self):
        w = moreau.World(BALL)
        q, poses = w.q, w.poses
        before = q.copy()
        w.step(5)
        self.assertFalse(np.array_equal(q, before))
        self.assertEqual(q[2], w.q[2])
        self.assertEqual(poses[1, 2], w.body("ball").position[2])
        for array in (w.q, w.v, w.poses, w.velocities, w.contacts):
            self.assertFalse(array.flags.writeable)
        with self.assertRaises(ValueError):
            w.poses[0, 0] = 1
        with self.assertRaises(ValueError):
            w.poses.flags.writeable = True

    def test_views_outlive_their_world(self):
        w = moreau.World(BALL)
        w.step(3)
        q, row, contacts = w.q, w.poses[1, :3], w.contacts
        expected = q.copy()
        w.close()
        with self.assertRaisesRegex(moreau.Error, "closed"):
            w.q
        del w
        gc.collect()
        for _ in range(200):
            moreau.World(BALL).step()
        np.testing.assert_array_equal(q, expected)
        self.assertEqual(row[2], expected[2])

    def test_views_after_bodies_came(self):
        w = moreau.World(BALL)
        old = w.poses
        w.add_body("other", {"box": [1, 1, 1]}, mass=2, position=[3, 0, 2])
        self.assertEqual(w.poses.shape, (3, 7))
        self.assertEqual(old.shape, (2, 7))
        w.step(2)
        w.body("other").remove()
        self.assertEqual(w.poses.shape, (2, 7))

    def test_setters_check_what_they_get(self):
        w = moreau.World(BALL)
        w.q = [1, 2, 3, 2, 0, 0, 0]
        np.testing.assert_array_equal(w.q, [1, 2, 3, 1, 0, 0, 0])
        w.body("ball").velocity = [0, 0, 5]
        self.assertEqual(w.v[2], 5)
        for bad in ([1, 2], [np.nan] * 7, [0] * 7, "text", None):
            with self.assertRaises((ValueError, TypeError)):
                w.q = bad
        np.testing.assert_array_equal(w.q, [1, 2, 3, 1, 0, 0, 0])
        for value in (0, -1, np.nan, np.inf):
            with self.assertRaises(moreau.BadInput):
                w.h = value

    def test_contacts_are_a_structured_array(self):
        w = moreau.World(BALL)
        w.step(200)
        c = w.contacts
        self.assertEqual(c.dtype, moreau.CONTACT)
        self.assertEqual(c["bodies"][0].tolist(), [0, 1])
        self.assertAlmostEqual(c["impulse"][:, 2].sum(), 9.81 * 0.01, places=10)
        self.assertAlmostEqual(w.body("ball").contact_wrench[2], 9.81, places=7)
        self.assertEqual(len(moreau.World(BALL).contacts), 0)

    def test_forces_act_for_one_step(self):
        w = moreau.World(BALL, gravity=[0, 0, 0])
        w.body("ball").apply_force([3, 0, 0])
        w.body("ball").apply_torque([0, 0, 0.1])
        w.step(4)
        self.assertAlmostEqual(w.v[0], 0.03, places=14)
        self.assertAlmostEqual(w.v[5], 0.1 * 0.01 / (0.4 * 0.25), places=14)

    def test_save_restore_and_pickle_continue_bit_for_bit(self):
        w = moreau.World("stack")
        w.step(20)
        snapshot = pickle.loads(pickle.dumps(w.save()))
        w.step(20)
        expected = w.state_hash
        w.restore(snapshot)
        w.step(20)
        self.assertEqual(w.state_hash, expected)
        other = moreau.World("stack")
        other.restore(snapshot)
        other.step(20)
        self.assertEqual(other.state_hash, expected)
        with self.assertRaises(moreau.BadInput):
            moreau.World(BALL).restore(snapshot)
        with self.assertRaises(moreau.BadInput):
            other.restore(snapshot[:-9])
        self.assertEqual(other.state_hash, expected)
        with self.assertRaises(TypeError):
            copy.deepcopy(w)

    def test_stale_bodies_are_refused(self):
        w = moreau.World(BALL)
        ball = w.body("ball")
        ball.remove()
        for use in (lambda: ball.mass, lambda: ball.apply_force([1, 0, 0]), ball.remove):
            with self.assertRaisesRegex(moreau.BadInput, "any more"):
                use()
        with self.assertRaisesRegex(moreau.BadInput, "there is no body 'cube'; there are floor"):
            w.body("cube")

    def test_joints_in_code_make_a_pendulum(self):
        w = moreau.World(step=0.001)
        bar = w.add_body("bar", {"box": [1, 0.01, 0.01]}, mass=1, position=[0.5, 0, 0])
        w.add_joint("revolute", None, bar, point=[0, 0, 0], axis=[0, 1, 0])
        w.step(100)
        # theta'' = m g l/2 / (m l^2/3) at the start: 14.715 rad/s^2
        self.assertAlmostEqual(w.velocities[0, 4], 14.715 * 0.1, delta=0.02)
        self.assertLess(w.joint_error, 1e-5)


class Errors(unittest.TestCase):
    def test_the_sentence_is_that_of_the_command(self):
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "moreau-python-%d.yaml" % os.getpid())
        for text in ("moreau: 1\nbodies:\n  - { name: ball, shape: { spere: 0.5 } }\n",
                     "moreau: 1\nmethod: { solver: lemk }\n", "moreau: 2\n", "moreau: 1\ntime: { step: -1 }\n", "[",
                     "moreau: 1\nbodies:\n  - { name: a, shape: { sphere: 1 }, mass: -2 }\n"):
            with open(path, "w") as file:
                file.write(text)
            said = command("run", path)
            with self.assertRaises(moreau.BadInput) as caught:
                moreau.World(path)
            self.assertEqual("moreau: %s\n" % caught.exception, said.stderr)
            self.assertEqual(caught.exception.code, said.returncode)
        os.remove(path)

    def test_not_solved_is_an_exception_and_changes_nothing(self):
        w = moreau.World("stack", formulation="st", set={"method.solver": {"name": "pgs", "max_iter": 1}})
        before = w.state_hash
        with self.assertRaisesRegex(moreau.NotSolved, "was not taken"):
            w.step(50)
        self.assertLess(w.steps, 50)
        self.assertEqual(len(before), 16)

    def test_wrong_arguments(self):
        w = moreau.World(BALL)
        for call in (lambda: w.step(-1), lambda: moreau.World(BALL, threads=0), lambda: w.set_method("solver", "nix"),
                     lambda: w.add_body("x", {"sphere": -1}), lambda: w.add_body("ball", {"sphere": 1}),
                     lambda: w.add_body("x", {"cube": 1}), lambda: w.add_body("x", {"box": [1, 1]}),
                     lambda: w.read("nothing.tau"), lambda: w.body("ball").apply_force([np.inf, 0, 0])):
            with self.assertRaises(moreau.BadInput):
                call()
        with self.assertRaises(TypeError):
            w.step("many")


class Callbacks(unittest.TestCase):
    def test_a_user_function_acts_before_every_step(self):
        w = moreau.World(BALL)
        times = []

        @w.on_user
        def hold(world):
            times.append(world.time)
            world.body("ball").apply_force([0, 0, 9.81])
        w.step(10)
        self.assertEqual(len(times), 10)
        self.assertAlmostEqual(w.body("ball").position[2], 2, places=14)
        w.on_user(None)
        w.step(1)
        self.assertLess(w.v[2], 0)

    def test_a_user_function_that_raises_stops_the_step(self):
        w = moreau.World(BALL)

        def user(world):
            if world.steps == 3:
                raise KeyError("enough")
        w.on_user(user)
        with self.assertRaisesRegex(KeyError, "enough"):
            w.step(10)
        self.assertEqual(w.steps, 3)
        w.on_user(None)
        w.step(7)
        reference = moreau.World(BALL)
        reference.step(10)
        self.assertEqual(w.state_hash, reference.state_hash)

    def test_an_observer_that_raises(self):
        w = moreau.World(BALL)
        seen = []
        w.on_step(lambda world: seen.append(world.report["step"]))
        w.step(3)
        self.assertEqual(seen, [1, 2, 3])
        w.on_step(lambda world: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            w.step(1)

    def test_a_step_within_a_step_is_refused(self):
        w = moreau.World(BALL)
        w.on_user(lambda world: world.step())
        with self.assertRaisesRegex(moreau.Error, "within its own step"):
            w.step()
        w.on_user(lambda world: world.close())
        with self.assertRaisesRegex(moreau.Error, "closed while"):
            w.step()
        w.on_user(None)
        w.on_step(lambda world: setattr(world, "q", world.q))
        with self.assertRaisesRegex(moreau.Error, "changed while it steps"):
            w.step()

    def test_worlds_in_cycles_are_collected(self):
        import weakref
        w = moreau.World(BALL)
        w.on_user(lambda world, w=w: None)
        w.on_step(lambda world, w=w: None)
        gone = weakref.ref(w)
        w.step(2)
        del w
        gc.collect()
        self.assertIsNone(gone())


class Hosts(unittest.TestCase):
    def test_ten_thousand_worlds_come_and_go(self):
        def size():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
        for _ in range(500):
            moreau.World(BALL).step()
        before = size()
        for _ in range(10000):
            moreau.World(BALL).step()
        self.assertLess(size() - before, 4 << 20)

    def test_the_lock_is_released(self):
        w = moreau.World("s2")
        count = [0]
        stop = threading.Event()

        def work():
            while not stop.is_set():
                count[0] += 1
        thread = threading.Thread(target=work)
        thread.start()
        w.step(30)
        stop.set()
        thread.join()
        self.assertGreater(count[0], 100)

    def test_two_threads_on_one_world_are_refused(self):
        w = moreau.World("s2")
        refused = []
        inside = threading.Event()

        def user(world):
            inside.set()
        w.on_user(user)
        thread = threading.Thread(target=lambda: w.step(200))
        thread.start()
        inside.wait(10)
        while thread.is_alive() and not refused:
            try:
                w.q
            except moreau.Error as error:
                refused.append(str(error))
        thread.join()
        self.assertIn("another thread", refused[0])

    def test_worlds_in_different_threads(self):
        hashes = []

        def work():
            w = moreau.World("stack")
            w.step(30)
            hashes.append(w.state_hash)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(set(hashes)), 1)

    def test_fork_after_threads(self):
        w, plain = moreau.World("s2", threads=2), moreau.World("s2")
        w.step(3), plain.step(3)
        batch = moreau.Batch("stack", 4, threads=2)
        batch.step(2)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                plain.step(3)
                batch.step(2)
                try:
                    w.step()
                except moreau.Error as error:
                    status = 0 if "fork" in str(error) else 2
                del w
                gc.collect()
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        w.step(3)

    def test_interruption(self):
        # a shell may have started this with SIGINT ignored
        program = ("import moreau, os, signal, threading\n"
                   "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                   "w = moreau.World('s2')\n"
                   "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                   "try:\n    w.step(10**9)\nexcept KeyboardInterrupt:\n    w.step(1); print('stopped')\n")
        said = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, timeout=60, text=True)
        self.assertEqual(said.stdout, "stopped\n")

    def run_changed(self, prepare):
        """The hash of a run in a process that prepared itself, and of one in this."""
        program = ("import ctypes, locale, moreau\n%s\nw = moreau.World('stack', set={'bodies.box.mass': 1.5},"
                   " step=0.0085)\nw.step(60)\nprint(w.state_hash)\n") % prepare
        said = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(said.returncode, 0, said.stderr)
        w = moreau.World("stack", set={"bodies.box.mass": 1.5}, step=0.0085)
        w.step(60)
        return said.stdout.strip().split("\n")[-1], w.state_hash

    def test_a_decimal_comma(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/source", "w") as file:
                file.write('LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n')
            subprocess.run(["localedef", "-c", "-f", "ANSI_X3.4-1968", "-i", folder + "/source", folder + "/comma"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if not os.path.exists(folder + "/comma/LC_NUMERIC"):
                self.skipTest("SKIP localedef made no locale")
            prepare = ("import os\nos.environ['LOCPATH'] = %r\nlocale.setlocale(locale.LC_NUMERIC, 'comma')\n"
                       "c = ctypes.CDLL(None)\nc.strtod.restype = ctypes.c_double\nassert c.strtod(b'1.5', None) == 1")
            got, expected = self.run_changed(prepare % folder)
        self.assertEqual(got, expected)

    def test_other_rounding(self):
        got, expected = self.run_changed("ctypes.CDLL('libm.so.6').fesetround(0x800)")
        self.assertEqual(got, expected)

    def test_flush_to_zero(self):
        # a shared object compiled with -ffast-math sets flush-to-zero when it is loaded
        compiler = "cc -shared -ffast-math -O2 -x c /dev/null -o"
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "moreau-python-ftz-%d.so" % os.getpid())
        if subprocess.run(compiler.split() + [path]).returncode:
            self.skipTest("SKIP no compiler")
        got, expected = self.run_changed("ctypes.CDLL(%r)" % path)
        os.remove(path)
        self.assertEqual(got, expected)


if __name__ == "__main__":
    unittest.main()

"""Recordings, comparison, figures, the viewer's page, benchmark problems."""
import os
import subprocess
import tempfile
import unittest

import numpy as np

import moreau


class Laboratory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "run.h5")

    def tearDown(self):
        self.folder.cleanup()

    def test_a_recording_from_python_equals_that_of_the_command(self):
        other = os.path.join(self.folder.name, "other.h5")
        subprocess.run([moreau.command(), "run", "stack", "--steps", "30", "--record", other, "--quiet"], check=True)
        w = moreau.World("stack")
        with w.record(self.path):
            w.step(30)
        w.step(5)  # not recorded any more
        a, b = moreau.read_recording(self.path), moreau.read_recording(other)
        for name in ("time", "pose", "velocity", "contacts/impulse", "contacts/start", "solver/iterations"):
            np.testing.assert_array_equal(a[name], b[name])
        self.assertEqual(len(a), 31)
        self.assertEqual(a.names, [body.name for body in w.bodies])
        c = a.contacts(30)
        self.assertEqual(len(c["gap"]), a["contacts/count"][30])
        table = a.to_pandas()
        self.assertEqual(table["floor.z"].iloc[0], a.pose[0, 0, 2])
        with w.record(self.path):  # again
            w.step(2)
        self.assertEqual(len(moreau.read_recording(self.path)), 3)

    def test_files_that_are_no_recordings(self):
        with open(self.path, "w") as file:
            file.write("text")
        for path in (self.path, "/nowhere.h5"):
            with self.assertRaises(moreau.BadInput):
                moreau.read_recording(path)

    def test_compare_runs_solvers_of_both_languages(self):
        @moreau.solver(accepts="fc3d")
        def py_nothing(problem, z, tol, max_iter):
            return 0.0 * z  # the guess may be the answer
        table = moreau.compare("stack", ["nsgs", "nsn", "py_nothing"], steps=5, tol=1e-6)
        summary = table.summary()
        self.assertEqual(summary["nsn"]["solved"], summary["nsn"]["of"])
        self.assertLess(summary["py_nothing"]["solved"], summary["py_nothing"]["of"])
        self.assertIn("py_nothing", str(table))
        self.assertIn("<table>", table._repr_html_())
        self.assertEqual(len(table.to_pandas()), len(table))

    def test_plot_and_show(self):
        import matplotlib
        matplotlib.use("Agg")
        w = moreau.World("bounce")
        with w.record(self.path):
            w.step(50)
        figure = moreau.plot(self.path, "energy", "position", "velocity", "penetration", "contacts")
        self.assertEqual(len(figure.axes), 5)
        figure.savefig(os.path.join(self.folder.name, "figure.png"))
        page = moreau.show(self.path)
        self.assertIn("<html", page.text[:500].lower())
        self.assertIn("<iframe", page._repr_html_())
        self.assertGreater(len(w.show().text), 100000)

    def test_problems_of_a_bpmd_file(self):
        path = os.path.join(self.folder.name, "problems.h5")
        subprocess.run([moreau.command(), "run", "stack", "--steps", "10", "--bpmd", path, "--quiet"], check=True)
        problems = moreau.read_bpmd(path)
        self.assertGreaterEqual(len(problems), 5)
        w = moreau.World("stack")
        w.step(10)
        mine = w.problems()[-1]
        self.assertEqual(mine.unknowns, problems[-1].unknowns)
        np.testing.assert_allclose(problems[-1].W, mine.W, atol=1e-9)
        self.assertTrue(moreau.solve(problems[-1], "auto").solved)


if __name__ == "__main__":
    unittest.main()

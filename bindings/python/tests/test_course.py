"""The notebooks of docs/course are executed, cell by cell; they are those of the scripts."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

from common import ROOT

COURSE = os.path.join(ROOT, "docs", "course")
RUNNER = os.path.join(COURSE, "run-notebooks")


def run(*words):
    return subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "MPLBACKEND": "Agg"})


class Course(unittest.TestCase):
    def test_notebooks_are_those_of_the_scripts(self):
        said = run(os.path.join(COURSE, "make-notebooks"), "--check")
        self.assertEqual(said.returncode, 0, said.stdout)

    def test_every_notebook_runs_and_draws(self):
        notebooks = sorted(glob.glob(os.path.join(COURSE, "lesson*.ipynb")))
        self.assertEqual(len(notebooks), 8)
        for notebook in notebooks:
            with tempfile.TemporaryDirectory() as folder:
                said = run(RUNNER, "--figures", folder, notebook)
                self.assertEqual(said.returncode, 0, said.stdout[-3000:])
                pictures = [os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)]
                self.assertTrue(pictures and min(pictures) > 3000, "%s drew %s" % (notebook, pictures))

    def test_a_cell_that_fails_is_told(self):
        cells = [{"cell_type": "markdown", "source": ["# 1 / 0"]}, {"cell_type": "code", "source": ["a = 3\n", "a"]},
                 {"cell_type": "code", "source": ["a / (a - 3)"]}, {"cell_type": "code", "source": ["print('never')"]}]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a book.ipynb")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"cells": cells}, file)
            said = run(RUNNER, path)
        self.assertEqual(said.returncode, 1)
        self.assertIn("a book, cell 2 failed", said.stdout)
        self.assertIn("ZeroDivisionError", said.stdout)
        self.assertTrue(said.stdout.startswith("3\n"), "the last value of a cell is shown")
        self.assertNotIn("never", said.stdout)

    def test_jupyter_runs_them_too(self):
        if not os.environ.get("MOREAU_LONG"):
            self.skipTest("SKIP long: MOREAU_LONG=1 runs the notebooks in a kernel of Jupyter")
        try:
            import nbclient
            import nbformat
        except ImportError:
            self.skipTest("SKIP nbclient is not installed")
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "kernels", "moreau"))  # a kernel of this interpreter, which has the package
            with open(os.path.join(folder, "kernels", "moreau", "kernel.json"), "w", encoding="utf-8") as file:
                json.dump({"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                           "display_name": "moreau", "language": "python"}, file)
            os.environ["JUPYTER_PATH"] = folder
            for notebook in sorted(glob.glob(os.path.join(COURSE, "lesson*.ipynb"))):
                book = nbformat.read(notebook, as_version=4)
                nbclient.NotebookClient(book, timeout=None, startup_timeout=600, kernel_name="moreau").execute()


if __name__ == "__main__":
    unittest.main()

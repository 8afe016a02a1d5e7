"""The lessons of docs/course run, and their notebooks are those of the scripts."""
import glob
import os
import subprocess
import sys
import unittest

from common import ROOT

COURSE = os.path.join(ROOT, "docs", "course")


class Course(unittest.TestCase):
    def test_notebooks_are_those_of_the_scripts(self):
        said = subprocess.run([sys.executable, os.path.join(COURSE, "make-notebooks"), "--check"], stdout=subprocess.PIPE,
                              text=True)
        self.assertEqual(said.returncode, 0, said.stdout)

    def test_every_lesson_runs(self):
        lessons = sorted(glob.glob(os.path.join(COURSE, "lesson*.py")))
        self.assertEqual(len(lessons), 8)
        for lesson in lessons:
            said = subprocess.run([sys.executable, lesson], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env={**os.environ, "MPLBACKEND": "Agg"}, timeout=300)
            self.assertEqual(said.returncode, 0, "%s:\n%s" % (lesson, said.stdout[-2000:]))


if __name__ == "__main__":
    unittest.main()

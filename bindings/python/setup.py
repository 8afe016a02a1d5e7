"""Packs the modules that CMake builds, the command and the scenes into the package moreau.

The sources of the project are looked for two folders up, or where MOREAU_SOURCE says; the build folder is its build/, or
where MOREAU_BUILD says. Modules that are not built yet are built.
"""
import os
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("MOREAU_SOURCE") or os.path.normpath(os.path.join(HERE, "..", ".."))
BUILD = os.environ.get("MOREAU_BUILD") or os.path.join(SOURCE, "build")
MODULES = ["_core.abi3.so", "_laboratory.abi3.so"]


class Build(build_py):
    def run(self):
        if not all(os.path.exists(os.path.join(BUILD, "python", m)) for m in MODULES):
            subprocess.check_call(["cmake", "-S", SOURCE, "-B", BUILD, "-G", "Ninja"])
            subprocess.check_call(["cmake", "--build", BUILD, "--target", "moreau_python", "moreau_python_lab", "programs"])
        super().run()
        package = os.path.join(self.build_lib, "moreau")
        for module in MODULES:
            shutil.copy(os.path.join(BUILD, "python", module), package)
        os.makedirs(os.path.join(package, "bin"), exist_ok=True)
        for program in ("moreau", "moreau-lab"):
            shutil.copy(os.path.join(BUILD, program), os.path.join(package, "bin"))
        os.makedirs(os.path.join(package, "bin", "fmu"), exist_ok=True)
        shutil.copy(os.path.join(BUILD, "fmu", "moreau.so"), os.path.join(package, "bin", "fmu"))
        scenes = os.path.join(package, "scenes")
        shutil.copytree(os.path.join(SOURCE, "scenes"), scenes, dirs_exist_ok=True)


class Wheel(bdist_wheel):
    """One wheel for every CPython from 3.11 on."""

    def finalize_options(self):
        super().finalize_options()
        self.py_limited_api = "cp311"
        self.root_is_pure = False

    def get_tag(self):
        return "cp311", "abi3", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=Binary)

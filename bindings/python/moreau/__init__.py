"""Moreau: rigid bodies with contact and friction, and fair comparison of the methods.

    import moreau
    world = moreau.World("bounce", step=0.002, set={"bodies.ball.mass": 2})
    world.step(500)
    print(world.body("ball").position, world.energy, world.contacts)

Units are SI everywhere: m, kg, s, rad, N. Quaternions have the real part first. docs/languages.md shows the same
program in C, Python, Octave and on the command line; README.md of this package says how it is built.
"""
from ._core import BadInput, Error, NotSolved, SystemFailure, version as __version__
from ._derivative import Derivative, Optimum
from ._world import Body, CONTACT, Energy, RobotHandle, World
from ._methods import (
    Control, System, collision, collision_methods, controller, controllers, formulation, formulations, solver, solvers)
from ._problem import Problem, Solution, convert, read_problem, solve
from ._robot import Robot
from ._batch import Batch, Environment, Space
from ._scene import Scene
from ._control import ControlLink, ControlServer, LinkState, connect, serve
from ._lab import command, compare, plot, read_bpmd, read_recording, run, show

__all__ = [
    "BadInput", "Batch", "Body", "CONTACT", "Control", "ControlLink", "ControlServer", "Derivative", "Energy",
    "Environment", "Error", "LinkState", "NotSolved", "Optimum", "Problem", "Robot", "RobotHandle", "Scene", "Solution",
    "Space", "System", "SystemFailure", "World", "collision",
    "collision_methods", "command", "compare", "connect", "controller", "controllers", "convert", "formulation",
    "formulations", "plot", "read_bpmd", "read_problem", "read_recording", "run", "serve", "show", "solve", "solver", "solvers",
]

"""Solvers, formulations, collision methods and controllers written in Python."""
from __future__ import annotations

import inspect
import math
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _core

SOLVER, FORMULATION, COLLISION, CONTROLLER = range(4)
FORMS = ["lcp", "mlcp", "mcp", "fc2d", "fc3d", "rfc3d", "gfc2d", "gfc3d", "grfc3d", "step-pyramid", "step-cone", "qp",
         "cqp"]
STATUSES = ["solved", "not_converged", "no_solution", "refused", "time_limit", "numerical"]


def _bits(forms: Union[str, Sequence[str]]) -> int:
    bits = 0
    for form in [forms] if isinstance(forms, str) else forms:
        if form not in FORMS:
            raise _core.BadInput("unknown form '%s'; known: %s" % (form, ", ".join(FORMS)))
        bits |= 1 << FORMS.index(form)
    return bits


def _fields(function: Callable[..., Any], fixed: int, options: Optional[Mapping[str, Any]]) -> list:
    """Options are the keyword arguments with a number as default, or what `options` says:
    name -> default, or (default, min, max, help)."""
    if options is None:
        parameters = list(inspect.signature(function).parameters.values())[fixed:]
        options = {p.name: p.default for p in parameters
                   if isinstance(p.default, (int, float)) and not isinstance(p.default, bool)}
    rows = []
    for name, said in options.items():
        row = list(said) if isinstance(said, (tuple, list)) else [said]
        row += [-math.inf, math.inf, ""][len(row) - 1:]
        rows.append((name, float(row[0]), float(row[1]), float(row[2]), str(row[3])))
    return rows


def _summary(function: Callable[..., Any]) -> str:
    lines = (function.__doc__ or "written in Python").strip().splitlines()
    return lines[0][:200] if lines else "written in Python"


def _answer(said: Any) -> tuple:
    """z, (z, iterations), (z, iterations, status) or (z, iterations, status, detail)."""
    if not isinstance(said, tuple):
        said = (said,)
    z, iterations, status, detail = (said + (0, "solved", "")[len(said) - 1:])[:4]
    if status not in STATUSES:
        raise _core.BadInput("status '%s'; known: %s" % (status, ", ".join(STATUSES)))
    return np.asarray(z, float).ravel(), int(iterations), status, str(detail)


def solver(accepts: Union[str, Sequence[str]], name: Optional[str] = None,
           options: Optional[Mapping[str, Any]] = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a solver written in Python under its name, usable wherever a solver's name is: scenes, World, solve,
    compare.

        @moreau.solver(accepts="lcp")
        def jacobi(problem, z, tol, max_iter, omega=0.5):
            A, b = problem.A, problem.b
            for k in range(max_iter):
                z = np.maximum(0, z - omega * (A @ z + b) / A.diagonal())
                if problem.error(z) <= tol:
                    return z, k + 1
            return z, max_iter, "not_converged"

    It returns z, or (z, iterations), or (z, iterations, status). Whether z is right is the judge's verdict. Keyword
    arguments with a number as default are options; `options` gives them ranges: {"omega": (0.5, 0, 2, "relaxation")}.
    """
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        from ._problem import Problem
        fields = _fields(function, 4, options)

        def call(core: Any, z: np.ndarray, tol: float, max_iter: int, given: Dict[str, float]) -> tuple:
            return _answer(function(Problem._of(core), z, tol, max_iter, **given))

        _core.register(SOLVER, name or function.__name__, _summary(function), call, _bits(accepts), fields)
        return function
    return register


class SystemContact(NamedTuple):
    """One contact of a system: its first row and number of rows, gap [m], coefficients, approach speed [m/s]."""
    row: int
    dim: int
    gap: float
    friction: float
    restitution: float
    approach: float
    drift: np.ndarray
    guess: np.ndarray
    contact: int


class System:
    """What a formulation is given: one group of bodies in contact for one step of length h.

        nu+ = nu_free + M^-1 G p      rows: contacts (normal, tangents), then joints
    """

    def __init__(self, core: Any) -> None:
        self._core = core
        for key, value in core._arrays().items():
            setattr(self, key, value)
        table = self.contacts
        self.contacts: List[SystemContact] = [
            SystemContact(int(r[0]), int(r[1]), r[2], r[3], r[4], r[5], r[6:9], r[9:12], int(r[12])) for r in table]

    def problem(self, bias: np.ndarray, directions: int = 0) -> Any:
        """The STEP problem u = G' nu+ + bias with circular cones, or polygons of so many directions."""
        from ._problem import Problem
        return Problem._of(self._core._problem(bias, directions))

    def solve(self, problem: Any, z0: Optional[np.ndarray] = None) -> tuple:
        """(z, report): the answer of the solver that the world has chosen."""
        return self._core._solve(problem._core, z0)

    def velocity(self, impulses: np.ndarray) -> np.ndarray:
        """nu_free + M^-1 G p"""
        return self._core._velocity(impulses)


def formulation_function(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(core: Any, given: Dict[str, float]) -> tuple:
        said = function(System(core), **given)
        if isinstance(said, tuple) and len(said) == 2 and isinstance(said[1], dict):  # (impulses, report of a solve)
            said = (said[0], said[1]["iterations"], said[1]["status"], said[1]["detail"])
        return _answer(said)
    return call


def formulation(produces: Union[str, Sequence[str]] = ("step-pyramid", "step-cone"), name: Optional[str] = None,
                options: Optional[Mapping[str, Any]] = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a formulation: function(system, **options) -> impulses of all rows, or (impulses, report) with the report
    of system.solve.

        @moreau.formulation()
        def anitescu(system):
            bias = system.bias.copy()
            for c in system.contacts:
                bias[c.row] = c.gap / system.h + c.drift[0]
            return system.solve(system.problem(bias))
    """
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _core.register(FORMULATION, name or function.__name__, _summary(function), formulation_function(function),
                       _bits(produces), _fields(function, 1, options))
        return function
    return register


def collision_function(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(time: float, poses: np.ndarray, velocities: np.ndarray, given: Dict[str, float]) -> np.ndarray:
        rows = []
        for k, c in enumerate(function(time, poses, velocities, **given)):
            row = np.empty(15)
            row[0], row[1] = c["bodies"]
            row[2:5], row[5:8], row[8:11] = c["point_a"], c["point_b"], c["normal"]
            row[11], row[12] = c["gap"], c.get("feature", k)
            row[13], row[14] = c.get("friction", -1.0), c.get("restitution", -1.0)
            rows.append(row)
        return np.array(rows).reshape(-1, 15)
    return call


def collision(name: Optional[str] = None, options: Optional[Mapping[str, Any]] = None
              ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a collision method: function(time, poses, velocities, **options) -> contacts, each a dict with bodies (two
    indices), point_a, point_b [m], normal (from the first body to the second), gap [m], and as you like feature (a whole
    number that is the same in the next step), friction, restitution."""
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        word = name or function.__name__
        _core.register(COLLISION, word, _summary(function), collision_function(function, word), 0,
                       _fields(function, 3, options))
        return function
    return register


class Control(NamedTuple):
    """What a controller is given, at one control instant."""
    robot: int
    time: float  #: [s]
    dt: float  #: to the next control instant [s]
    base: np.ndarray  #: pose of the base: position [m], quaternion
    s: np.ndarray  #: joint positions [rad, m]
    nu: np.ndarray  #: velocities: of a floating base (6), then of the joints
    gravity_torque: Optional[np.ndarray]  #: if the controller was added with gravity_compensation
    target: np.ndarray  #: joint positions the controller was given
    state: np.ndarray  #: 64 numbers of its own, 0 at the start, kept in snapshots: write into it


def control_call(function: Callable[..., Any]) -> Callable[..., tuple]:
    """A function of one Control as the core calls it."""
    def call(robot: int, time: float, dt: float, base: np.ndarray, s: np.ndarray, nu: np.ndarray,
             gravity: Optional[np.ndarray], target: np.ndarray, state: np.ndarray, given: Dict[str, float]) -> tuple:
        said = function(Control(robot, time, dt, base, s, nu, gravity, target, state), **given)
        tau, gain = said if isinstance(said, tuple) else (said, None)
        return np.asarray(tau, float), np.zeros(len(s)) if gain is None else np.asarray(gain, float)
    return call


def controller(name: Optional[str] = None, options: Optional[Mapping[str, Any]] = None
               ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a type of controller: function(control, **options) -> torques of the joints [N m, N], or (torques, gains):
    for a change dv of a joint's speed in the step the torque is then tau - gain dv, taken implicitly."""
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _core.register(CONTROLLER, name or function.__name__, _summary(function), control_call(function), 0,
                       _fields(function, 1, options))
        return function
    return register


def _list(kind: int) -> Dict[str, str]:
    return {name: summary for name, summary, _ in _core.list_methods(kind)}


def solvers() -> Dict[str, str]:
    """name -> summary of all solvers, those written in Python included."""
    return _list(SOLVER)


def formulations() -> Dict[str, str]:
    """name -> summary of all formulations."""
    return _list(FORMULATION)


def collision_methods() -> Dict[str, str]:
    """name -> summary of all collision methods."""
    return _list(COLLISION)


def controllers() -> Dict[str, str]:
    """name -> summary of all types of controllers."""
    return _list(CONTROLLER)

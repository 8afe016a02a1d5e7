"""Derivatives of steps through contact, and goals that a world is brought to (docs/methods/derivatives.md)."""
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

AXES = {"x": 0, "y": 1, "z": 2}


class Derivative(NamedTuple):
    """The derivative of the state after a step by the state before it and by inputs, and what is known of it.

    States are 2 n numbers, n = len(world.v): positions in the coordinates of the velocities (rotations as vectors in
    world axes), then velocities. Columns: the state before the step, then the inputs.
    """
    matrix: np.ndarray      # 2 n x (2 n + inputs)
    differentiable: bool    # False: a contact is about to change its state; `why` says which
    why: str
    unique: bool            # False: sliding contacts share their load in more than one way
    differences: bool       # taken by differences of the step: impacts, joints that were solved for again
    open: int               # contacts by what they did
    sticking: int
    sliding: int
    weak: int               # contacts and bounds on the edge between two states
    distance: float         # to the nearest change [m/s]
    residual: float         # velocity error of the step [m/s]
    smoothed: float         # of a smoothed step: how far its velocities are from those of the step
    forces_held: bool       # forces that may follow the state (at, frame: body, MJCF, a function) are taken as constant

    @property
    def state(self) -> np.ndarray:
        """The columns of the state, 2 n x 2 n."""
        return self.matrix[:, :len(self.matrix)]

    @property
    def inputs(self) -> np.ndarray:
        """The columns of the inputs, 2 n x inputs."""
        return self.matrix[:, len(self.matrix):]


class Optimum(NamedTuple):
    """What optimise found."""
    x: np.ndarray       # the unknowns, in their order
    miss: float         # root of the sum of squares of the goals
    simulations: int    # runs of the world, those with derivatives included
    derivatives: int    # of them, runs with derivatives
    reached: bool
    stalled: bool       # no unknown changes any goal here: the derivative is zero
    rough: int          # steps of the last run without a derivative


def _part(word: str) -> Tuple[str, str, str]:
    """KIND:NAME.PART"""
    kind, colon, rest = word.partition(":")
    name, _, part = rest.rpartition(".")
    if not colon or not rest:
        raise ValueError("%r: expected KIND:NAME, such as 'force:ball.x'" % word)
    return (kind, name, part) if name else (kind, rest, "")


def input_of(world: Any, word: str) -> Tuple[str, int, int]:
    """(kind, index, component) of a word of `moreau derivative --input`."""
    kind, name, part = _part(word)
    if kind == "gravity":
        if name not in AXES:
            raise ValueError("%r: expected gravity:x, y or z" % word)
        return kind, 0, AXES[name]
    if kind in ("friction", "restitution"):
        full = word.partition(":")[2]
        number = world._material(full)
        if number < 0:
            raise ValueError("%r: there is no material %r" % (word, full))
        return kind, number, 0
    if kind in ("mass", "size"):
        full = word.partition(":")[2]
        return kind, _body(world, word, full), 0
    if kind in ("force", "torque"):
        if part not in AXES:
            raise ValueError("%r: which part? x, y or z" % word)
        return "force", _body(world, word, name), AXES[part] + (3 if kind == "torque" else 0)
    if kind in ("joint", "kp", "ki", "kd", "target"):
        robot = world.robot(name)
        if part not in robot.joints:
            raise ValueError("%r: robot %r has no joint %r" % (word, name, part))
        joint = list(robot.joints).index(part)
        if kind == "joint":
            return kind, robot.number, joint
        number = world._controller(robot.number)
        if number < 0:
            raise ValueError("%r: robot %r has no controller" % (word, name))
        return kind, number, joint
    raise ValueError("%r: there is no input of kind %r" % (word, kind))


def _body(world: Any, word: str, name: str) -> int:
    index = world._number(name)[2]
    if index < 0:
        raise ValueError("%r: there is no body %r" % (word, name))
    return index


def number_of(world: Any, word: str) -> Tuple[str, int]:
    """("position" or "velocity", number in v) of velocity:BODY.x, position:BODY.x or with a joint of a robot."""
    kind, name, part = _part(word)
    if kind not in ("position", "velocity"):
        raise ValueError("%r: expected position: or velocity:" % word)
    first, count, _ = world._number(name)
    if first < 0:
        raise ValueError("%r: nothing that moves is called %r" % (word, name))
    names = [r for r in world.robots if r.name == name]
    if names and part in names[0].joints:
        joints = list(names[0].joints)
        return kind, first + count - len(joints) + joints.index(part)
    if part not in AXES or AXES[part] >= world.dimension:
        raise ValueError("%r: which part? x, y, z or a joint" % word)
    return kind, first + AXES[part]


def derivative(world: Any, inputs: Sequence[str], steps: Optional[int], side: int, smooth: float) -> Derivative:
    if steps is not None and (steps < 1 or side or smooth):
        raise ValueError("steps: expected at least 1, and neither side nor smooth")
    if side and smooth:
        raise ValueError("side or smooth, not both")
    return Derivative(**world._derivative([input_of(world, i) for i in inputs], steps or 0, side, smooth))


def adjoint(world: Any, gradient: Any, steps: int, inputs: Sequence[str]) -> Tuple[np.ndarray, np.ndarray]:
    if steps < 1:
        raise ValueError("steps: expected at least 1")
    return world._adjoint(steps, gradient, [input_of(world, i) for i in inputs])


def optimise(world: Any, vary: Any, goal: Any, steps: int, start: Any, values: bool, tolerance: float,
             most_simulations: int) -> Optimum:
    unknowns: List[tuple] = []
    present: List[float] = []
    for word in vary:
        if word.partition(":")[0] in ("position", "velocity"):
            kind, number = number_of(world, word)
            unknowns.append((kind, number, None))
            present.append(world.v[number] if kind == "velocity" else _place(world, word))
        else:
            unknowns.append(("", 0, input_of(world, word)))
            present.append(0.0)
    goals = []
    for word, wanted in goal.items():
        kind, number = number_of(world, word)
        value, weight = wanted if isinstance(wanted, tuple) else (wanted, 1.0)
        goals.append((number, kind == "velocity", float(value), float(weight)))
    begin = np.asarray(present if start is None else start, float)
    return Optimum(**world._optimise(steps, unknowns, goals, begin, values, tolerance, most_simulations))


def _place(world: Any, word: str) -> float:
    """The present position that a word means."""
    _, name, part = _part(word)
    robots = [r for r in world.robots if r.name == name]
    if robots and part in robots[0].joints:
        return float(robots[0].s[list(robots[0].joints).index(part)])
    if robots:
        return float(robots[0].base[AXES[part]])
    return float(world.body(name).position[AXES[part]])

"""Worlds, bodies, robots of a world."""
from __future__ import annotations

import json
import math
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core, _derivative, _methods, _scene

#: One contact of the last step: indices of the two bodies, the point [m], the normal from the first to the second body,
#: the gap at the start of the step [m], the impulse on the second body [N s], state 0 open, 1 sticks, 2 slides.
CONTACT = np.dtype({
    "names": ["bodies", "point", "normal", "gap", "impulse", "state"],
    "formats": ["(2,)i4", "(3,)f8", "(3,)f8", "f8", "(3,)f8", "i4"],
    "offsets": [0, 8, 32, 56, 64, 88], "itemsize": 96})

NO_CONTACTS = np.empty(0, CONTACT)
NO_CONTACTS.flags.writeable = False

Vector = Union[Sequence[float], np.ndarray]


class Energy(NamedTuple):
    """Energies now [J]."""
    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        return self.kinetic + self.potential


class Body:
    """A body of a world. Stays valid while other bodies come and go."""

    __slots__ = ("world", "handle", "name")

    def __init__(self, world: "World", handle: int, name: str) -> None:
        self.world, self.handle, self.name = world, handle, name

    def __repr__(self) -> str:
        return "Body(%r)" % self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and other.world is self.world and other.handle == self.handle

    def __hash__(self) -> int:
        return hash(self.handle)

    @property
    def index(self) -> int:
        """Its row in poses, velocities and contacts."""
        return self.world._body(self.handle)[0]

    @property
    def kind(self) -> str:
        """dynamic, fixed or kinematic"""
        return self.world._body(self.handle)[1]

    @property
    def mass(self) -> float:
        """[kg]"""
        return self.world._body(self.handle)[2]

    @property
    def com(self) -> np.ndarray:
        """Centre of mass in the body frame [m]."""
        return self.world._body(self.handle)[3]

    @property
    def inertia(self) -> np.ndarray:
        """About the centre of mass, body axes [kg m^2]."""
        return self.world._body(self.handle)[4]

    @property
    def contact_wrench(self) -> np.ndarray:
        """Force [N] and moment about the centre of mass [N m] of all contacts in the last step, world axes."""
        return self.world._body(self.handle)[5]

    @property
    def pose(self) -> np.ndarray:
        """Position of the body frame [m], quaternion w x y z."""
        return self.world.poses[self.index].copy()

    @pose.setter
    def pose(self, value: Vector) -> None:
        poses = self.world.poses.copy()
        poses[self.index] = value
        self.world.poses = poses

    @property
    def position(self) -> np.ndarray:
        """Of the body frame [m]."""
        return self.pose[:3]

    @position.setter
    def position(self, value: Vector) -> None:
        pose = self.pose
        pose[:3] = value
        self.pose = pose

    @property
    def quaternion(self) -> np.ndarray:
        """w x y z, from the body frame to the world."""
        return self.pose[3:]

    @quaternion.setter
    def quaternion(self, value: Vector) -> None:
        pose = self.pose
        pose[3:] = value
        self.pose = pose

    @property
    def velocity(self) -> np.ndarray:
        """Of the centre of mass [m/s]."""
        return self.world.velocities[self.index, :3].copy()

    @velocity.setter
    def velocity(self, value: Vector) -> None:
        self._set_velocity(slice(0, 3), value)

    @property
    def angular_velocity(self) -> np.ndarray:
        """World axes [rad/s]."""
        return self.world.velocities[self.index, 3:].copy()

    @angular_velocity.setter
    def angular_velocity(self, value: Vector) -> None:
        self._set_velocity(slice(3, 6), value)

    def _set_velocity(self, part: slice, value: Vector) -> None:
        v = self.world.velocities.copy()
        v[self.index, part] = value
        self.world.velocities = v

    def apply_force(self, force: Vector, point: Optional[Vector] = None) -> None:
        """A force [N] for the coming step at a world point [m] (None: the centre of mass)."""
        self.world._apply_force(self.handle, force, point)

    def apply_torque(self, torque: Vector) -> None:
        """A torque [N m], world axes, for the coming step."""
        self.world._apply_torque(self.handle, torque)

    def remove(self) -> None:
        """Takes the body and its joints out of the world."""
        self.world._remove_body(self.handle)


class RobotHandle:
    """A robot of a world: its joints, its part of q and v."""

    def __init__(self, world: "World", number: int, row: tuple) -> None:
        self.world, self.number = world, number
        self.name, self.joints, self.floating = row[0], list(row[1]), bool(row[2])
        self._q, self._v = slice(row[3], row[3] + row[4]), slice(row[5], row[5] + row[6])

    def __repr__(self) -> str:
        return "RobotHandle(%r, %d joints)" % (self.name, len(self.joints))

    @property
    def s(self) -> np.ndarray:
        """Joint positions [rad, m]."""
        return self.world.q[self._q][7 if self.floating else 0:].copy()

    @s.setter
    def s(self, value: Vector) -> None:
        q = self.world.q.copy()
        q[self._q][7 if self.floating else 0:] = value
        self.world.q = q

    @property
    def base(self) -> Optional[np.ndarray]:
        """Pose of a floating base: position [m], quaternion; None for a fixed one."""
        return self.world.q[self._q][:7].copy() if self.floating else None

    @property
    def nu(self) -> np.ndarray:
        """Velocities: of a floating base (6), then of the joints [m/s, rad/s]."""
        return self.world.v[self._v].copy()

    def apply(self, tau: Vector) -> None:
        """Joint torques [N m, N] for the coming step."""
        self.world._robot_apply(self.number, tau)

    @property
    def gravity_torque(self) -> np.ndarray:
        """Joint torques that hold the present pose [N m, N]."""
        return self.world._gravity_torque(self.number)

    def read(self, quantity: str) -> np.ndarray:
        """A channel of the output bus: read("tau") is robot.tau (docs/robots.md)."""
        return self.world._bus_read("%s.%s" % (self.name, quantity))

    def add_controller(self, control: Union[str, Callable[..., Any]], **keys: Any) -> int:
        """A controller by name ("pid" ...) with target, kp, ki, kd, or a function of one moreau.Control."""
        return self.world.add_controller(self.number, control, **keys)


class World(_core.World):
    """A world: bodies, robots, contacts, and steps.

        World("scene.yaml", step=0.002, set={"bodies.ball.mass": 2})     # a file, or a scene of the package
        World({"bodies": [{"name": "ball", "shape": {"sphere": 0.1}, "mass": 1}]})
        World(moreau.Scene().body("ball", shape={"sphere": 0.1}, mass=1))
        World()                                                           # empty: add_body, add_joint ...

    `step` [s], `solver`, `formulation`, `collision` and `set` change values of the scene, as on the command line.
    q, v, poses and velocities are live read-only arrays: they follow the world for as long as you hold them. Assign to
    the property to change the state. A world belongs to one thread at a time; the interpreter lock is released while
    it steps.
    """

    def __init__(self, scene: Any = None, *, step: Optional[float] = None, threads: int = 1,
                 set: Optional[Mapping[str, Any]] = None, formulation: Optional[str] = None,
                 solver: Optional[str] = None, collision: Optional[str] = None,
                 gravity: Optional[Vector] = None) -> None:
        named = {"time.step": step, "method.formulation.name": formulation, "method.solver.name": solver,
                 "method.collision.name": collision, "gravity": gravity}
        words = _scene.overrides(set, **named)
        super().__init__(_scene.read({} if scene is None else scene, words), threads)

    def __reduce__(self) -> Any:
        raise TypeError("a world is not pickled: pickle world.save(), and restore it in a world of the same scene")

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return "World(%r, t = %g s)" % (self.scene.name, self.time)

    # ------------------------------------------------------------------------------------ state

    @property
    def contacts(self) -> np.ndarray:
        """Contacts of the last step: a structured array (moreau.CONTACT), read-only, as they are now."""
        memory = self._contacts()
        return np.frombuffer(memory, CONTACT) if len(memoryview(memory)) else NO_CONTACTS

    @property
    def energy(self) -> Energy:
        """Kinetic and potential energy now [J]."""
        return Energy(self.kinetic_energy, self.potential_energy)

    @property
    def bodies(self) -> List[Body]:
        """All bodies, links of robots included, in the order of poses."""
        return [Body(self, handle, name) for handle, name in self._bodies()]

    def body(self, name: str) -> Body:
        """The body of that name."""
        names = []
        for handle, other in self._bodies():
            if other == name:
                return Body(self, handle, name)
            names.append(other)
        raise _core.BadInput("there is no body '%s'; there are %s" % (name, ", ".join(names[:20]) or "none"))

    @property
    def robots(self) -> List[RobotHandle]:
        """The robots."""
        return [RobotHandle(self, i, row) for i, row in enumerate(self._robots())]

    def robot(self, name: str) -> RobotHandle:
        """The robot of that name."""
        for robot in self.robots:
            if robot.name == name:
                return robot
        raise _core.BadInput("there is no robot '%s'" % name)

    @property
    def joints(self) -> dict:
        """Joints that are equations: name -> angle [rad] or displacement [m]."""
        return {name: position for name, _, position in self._joints()}

    @property
    def bus(self) -> dict:
        """The output bus: name -> (unit, help)."""
        return {name: (unit, help) for name, unit, help, _, _ in self._bus()}

    def read(self, channel: str) -> np.ndarray:
        """A channel of the output bus, "robot.quantity" (docs/robots.md)."""
        return self._bus_read(channel)

    # ------------------------------------------------------------------------------------ steps

    def advance(self, seconds: float) -> None:
        """Steps until so much time has passed: to the nearest step, or exactly with `step: adaptive`."""
        self.advance_to(self.time + seconds)

    def run(self, steps: Optional[int] = None) -> dict:
        """Takes steps (None: to the scene's end) and returns the numbers that `moreau run --json` prints."""
        return json.loads(self._run(-1 if steps is None else max(0, steps)))

    # ------------------------------------------------------------------------------ derivatives

    def derivative(self, inputs: Sequence[str] = (), *, steps: Optional[int] = None,
                   side: int = 0, smooth: float = 0.0) -> _derivative.Derivative:
        """The derivative of the state after the coming step by the state before it and by inputs, through contact.

        Inputs are words: "force:BODY.x", "torque:BODY.x", "joint:ROBOT.JOINT", "friction:MATERIAL",
        "restitution:MATERIAL", "mass:BODY", "size:BODY", "gravity:x", "kp:ROBOT.JOINT", "ki:", "kd:", "target:". The
        step is not taken. With `steps`, so many steps are taken and it is the derivative of all of them together.
        side 1 or -1: one-sided, where a contact is on the edge between two states. smooth: of a step whose contact
        law is smoothed by so many m/s, through switches.
        """
        return _derivative.derivative(self, inputs, steps, side, smooth)

    def adjoint(self, gradient: Vector, steps: int,
                inputs: Sequence[str] = ()) -> Tuple[np.ndarray, np.ndarray]:
        """Takes the steps and returns the gradient of a number by the state now (2 n) and by the inputs of every step
        (steps x inputs), given its gradient by the state after them (2 n)."""
        return _derivative.adjoint(self, gradient, steps, inputs)

    def optimise(self, vary: Sequence[str], goal: Mapping[str, Any], steps: int, *, start: Optional[Vector] = None,
                 values: bool = False, tolerance: float = 1e-6,
                 most_simulations: int = 1000) -> _derivative.Optimum:
        """Looks for states and constant forces that bring the world to a goal after so many steps, by least squares with
        the derivative of every step. The world is as before afterwards.

            world.optimise(["velocity:puck.x"], {"position:puck.x": 3.0}, steps=200)

        vary: "position:BODY.x", "velocity:BODY.x", with a joint of a robot in place of x, "force:", "torque:", "joint:",
        "gravity:". goal: what they shall be, or (value, weight). values: by a simplex of values alone, to compare with.
        """
        return _derivative.optimise(self, vary, goal, steps, start, values, tolerance, most_simulations)

    def problems(self, directions: int = 0) -> list:
        """The problems of the last step, one per group of bodies in contact, as moreau.Problem in STEP form: circular
        cones, or polygons with so many directions. Each has `impulses` and `nu`, what the step answered."""
        from ._problem import Problem
        found = []
        for core, impulses, nu in self._problems(directions):
            problem = Problem._of(core)
            problem.impulses, problem.nu = impulses, nu
            found.append(problem)
        return found

    # -------------------------------------------------------------------------------- functions

    def on_user(self, function: Optional[Callable[["World"], Any]]) -> Any:
        """Calls function(world) before every step: it may apply forces and change the state. Usable as a decorator."""
        self._on("user", function)
        return function

    def on_collide(self, function: Optional[Callable[..., Any]]) -> Any:
        """function(time, poses, velocities) -> contacts in place of the collision method (see moreau.collision)."""
        self._on("collide", function and _methods.collision_function(function, "function"))
        return function

    def on_solve(self, function: Optional[Callable[..., Any]]) -> Any:
        """function(system) -> impulses in place of the formulation (see moreau.formulation)."""
        self._on("formulation", function and _methods.formulation_function(function))
        return function

    def on_step(self, function: Callable[["World"], Any]) -> Any:
        """Calls function(world) after every step."""
        self._observe(function)
        return function

    def add_controller(self, robot: Union[int, str], control: Union[str, Callable[..., Any]], *,
                       target: Optional[Vector] = None, kp: Optional[Vector] = None, ki: Optional[Vector] = None,
                       kd: Optional[Vector] = None, gravity_compensation: bool = False, sampled: bool = False) -> int:
        """A controller of a robot: the name of a type, or a function of one moreau.Control that returns torques."""
        handle = self.robot(robot) if isinstance(robot, str) else self.robots[robot]
        if callable(control):
            control = _methods.control_call(control)  # of this world alone: it takes no place among the registered ones
        full = [None if x is None else np.broadcast_to(np.asarray(x, float), (len(handle.joints),))
                for x in (target, kp, ki, kd)]
        return self._add_controller(handle.number, control, *full, gravity_compensation, sampled)

    # ----------------------------------------------------------------------------------- making

    def set_method(self, stage: str, name: str, **options: Any) -> None:
        """Chooses a method: set_method("solver", "nsn", tol=1e-10)."""
        self._set_method(stage, name)
        for option, value in options.items():
            self._set_option(stage, option, _scene.text_of(value))

    def set_option(self, stage: str, option: str, value: Any) -> None:
        """An option of the chosen method; stage "method" holds the world's own: on_failure, v_rest ..."""
        self._set_option(stage, option, _scene.text_of(value))

    def method(self, stage: str) -> str:
        """The name of the method of a stage: formulation, solver, collision, integrator, stabilisation."""
        return self._method(stage)

    def add_material(self, name: str = "", friction: float = 0.5, restitution: float = 0.0,
                     density: float = 1000.0) -> int:
        """The number of a new material, for add_body."""
        return self._add_material(name, friction, restitution, density)

    def add_body(self, name: str, shape: Any, *, kind: str = "dynamic", mass: float = 0.0, material: int = 0,
                 position: Vector = (0, 0, 0), quaternion: Vector = (1, 0, 0, 0), velocity: Vector = (0, 0, 0),
                 angular_velocity: Vector = (0, 0, 0), inertia: Optional[np.ndarray] = None,
                 com: Optional[Vector] = None, surface_velocity: Vector = (0, 0, 0), collide: bool = True) -> Body:
        """Adds a body between steps. `shape`: {"sphere": r}, {"box": [x, y, z]}, "plane", {"capsule": [r, length]},
        {"cylinder": [r, length, sides]}, {"cone": [r, height]}, {"hull": points}, {"disc": r}, ... or a list of them,
        each with "position" and "quaternion" in the body frame. Lengths in m, mass in kg (0: from the density)."""
        if kind not in ("dynamic", "fixed", "kinematic"):
            raise _core.BadInput("kind '%s'; known: dynamic, fixed, kinematic" % kind)
        shapes = [_shape(s) for s in (shape if isinstance(shape, list) else [shape])]
        handle = self._add_body(name, kind, shapes, material, float(mass), inertia, com,
                                [*_three(position), *quaternion], _three(velocity), _three(angular_velocity),
                                _three(surface_velocity), collide)
        return Body(self, handle, name)

    def add_joint(self, kind: str, body_a: Optional[Body], body_b: Optional[Body], *, name: str = "",
                  point: Any = (0, 0, 0), axis: Vector = (0, 0, 1), axis2: Vector = (1, 0, 0),
                  lower: float = -math.inf, upper: float = math.inf, damping: float = 0.0, friction: float = 0.0,
                  stiffness: float = 0.0, rest: float = 0.0, motor_speed: Optional[float] = None,
                  motor_force: float = math.inf, length: float = -1.0) -> int:
        """Adds a joint at a world point [m] (a tuple of two for distances) about a world axis; None is the world."""
        handles = [None if b is None else b.handle for b in (body_a, body_b)]
        return self._add_joint(name, kind, *handles, point, axis, axis2, lower, upper, damping, friction, stiffness, rest,
                               motor_speed is not None, motor_speed or 0.0, motor_force, length)

    def add_robot(self, name: str, robot: Any, *, position: Vector = (0, 0, 0), quaternion: Vector = (1, 0, 0, 0),
                  s: Optional[Vector] = None, material: int = 0, collide: bool = True,
                  self_collision: bool = False) -> RobotHandle:
        """Adds a moreau.Robot at a pose of its base, with joint positions s [rad, m]."""
        self._add_robot(name, robot, [*position, *quaternion], s, material, collide, self_collision)
        return self.robots[-1]

    # -------------------------------------------------------------------------------- pictures

    def record(self, path: Any) -> Any:
        """Records every step from now on into an HDF5 file (docs/recording.md), until close() or the end of `with`."""
        from ._lab import record
        return record(self, path)

    def show(self, height: int = 480) -> Any:
        """The scene in the viewer, run from its start to the present time, for a notebook."""
        from ._lab import show
        return show(self, height=height)


def _three(x: Vector) -> list:
    x = list(x)
    return x + [0.0] * (3 - len(x))


def _shape(shape: Any) -> tuple:
    if isinstance(shape, str):
        shape = {shape: []}
    shape = dict(shape)
    position = _three(shape.pop("position", (0, 0, 0)))
    quaternion = list(shape.pop("quaternion", (1, 0, 0, 0)))
    material = shape.pop("material", -1)
    if len(shape) != 1:
        raise _core.BadInput("a shape has one word beside position, quaternion and material, not %s" % sorted(shape))
    word, numbers = next(iter(shape.items()))
    if word == "cylinder" and len(numbers) == 2:
        numbers = [*numbers, 0]
    if word in ("tetrahedron", "octahedron", "dodecahedron", "icosahedron") and np.ndim(numbers) == 0:
        numbers = [numbers, 0]
    return word, np.asarray(numbers, float).ravel(), [*position, *quaternion], material

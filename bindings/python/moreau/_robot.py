"""Robots from URDF: kinematics and dynamics, one state or many at once."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence

import numpy as np

from . import _core

MASS, BIAS, FORWARD, INVERSE, POSE, JACOBIAN, DRIFT, COM, MOMENTUM, KINETIC, POTENTIAL = range(11)


class JointInfo(NamedTuple):
    """A joint: limits [rad, m], effort [N m, N], speed [rad/s, m/s]; infinite where there is none."""
    name: str
    type: str
    lower: float
    upper: float
    effort: float
    speed: float


class Robot(_core.Robot):
    """A robot of a URDF file.

        robot = moreau.Robot("arm.urdf", floating=False)
        M = robot.mass_matrix(s)                   # s: joint positions, n numbers, or an array (..., n) of many states
        h = robot.bias(s, nu)                      # Coriolis, centrifugal and gravity terms
        nudot = robot.forward_dynamics(s, nu, f)   # M nudot + h = f
        J = robot.jacobian("tool", s)              # 6 x N: velocity of the origin, angular velocity, world axes

    nu = [velocity of the base, angular velocity of the base, joint velocities] in world axes; a fixed base has the last
    part only. `base`: pose of the base, position [m] and quaternion (default: the origin)."""

    def __init__(self, path: str, *, floating: bool = True, joints: Optional[Sequence[str]] = None, shapes: bool = True,
                 packages: Optional[str] = None, strict: bool = False) -> None:
        super().__init__(str(path), floating, None if joints is None else list(joints), shapes, packages, strict)
        n, dof, float_, mass, rows, frames, links, notes = self._info()
        self.n, self.dof, self.floating, self.mass = n, dof, bool(float_), mass
        self.joints: List[JointInfo] = [JointInfo(*row) for row in rows]
        self.frames, self.links, self.notes = list(frames), list(links), notes

    def _call(self, what: int, s: Any, nu: Any, x: Any, base: Any, gravity: Any, frame: Optional[str], shape: tuple) -> Any:
        s = np.asarray(s, float)
        if s.shape[-1:] != (self.n,):
            raise _core.BadInput("s: the last dimension must be %d, the joints; it is %s" % (self.n, s.shape[-1:]))
        many = s.shape[:-1]
        count = int(np.prod(many, dtype=int))

        def spread(value: Any, width: int, what: str) -> Any:
            if value is None:
                return None
            value = np.asarray(value, float)
            if value.shape[-1:] != (width,):
                raise _core.BadInput("%s: the last dimension must be %d" % (what, width))
            return np.broadcast_to(value, many + (width,))
        out = self._evaluate(what, count, spread(base, 7, "base"), s, spread(nu, self.dof, "nu"),
                             spread(x, self.dof, "forces"), -1 if frame is None else self._frame(frame), gravity)
        out = out.reshape(many + shape)
        return out if out.shape else float(out)

    def mass_matrix(self, s: Any, *, base: Any = None) -> np.ndarray:
        """M, N x N [kg, kg m, kg m^2]."""
        return self._call(MASS, s, None, None, base, (0, 0, 0), None, (self.dof, self.dof))

    def bias(self, s: Any, nu: Any = None, *, base: Any = None, gravity: Any = (0, 0, -9.81)) -> np.ndarray:
        """h: Coriolis, centrifugal and gravity terms [N, N m]."""
        return self._call(BIAS, s, nu, None, base, gravity, None, (self.dof,))

    def gravity(self, s: Any, *, base: Any = None, gravity: Any = (0, 0, -9.81)) -> np.ndarray:
        """g: the gravity part of h."""
        return self._call(BIAS, s, None, None, base, gravity, None, (self.dof,))

    def forward_dynamics(self, s: Any, nu: Any = None, f: Any = None, *, base: Any = None,
                         gravity: Any = (0, 0, -9.81)) -> np.ndarray:
        """nudot of M nudot + h = f."""
        return self._call(FORWARD, s, nu, f, base, gravity, None, (self.dof,))

    def inverse_dynamics(self, s: Any, nu: Any = None, nudot: Any = None, *, base: Any = None,
                         gravity: Any = (0, 0, -9.81)) -> np.ndarray:
        """f = M nudot + h."""
        return self._call(INVERSE, s, nu, nudot, base, gravity, None, (self.dof,))

    def frame_pose(self, frame: str, s: Any, *, base: Any = None) -> np.ndarray:
        """Position [m] and quaternion of a frame in the world."""
        return self._call(POSE, s, None, None, base, (0, 0, 0), frame, (7,))

    def jacobian(self, frame: str, s: Any, *, base: Any = None) -> np.ndarray:
        """6 x N: velocity of the frame's origin, angular velocity, world axes."""
        return self._call(JACOBIAN, s, None, None, base, (0, 0, 0), frame, (6, self.dof))

    def jacobian_drift(self, frame: str, s: Any, nu: Any, *, base: Any = None) -> np.ndarray:
        """dJ/dt nu."""
        return self._call(DRIFT, s, nu, None, base, (0, 0, 0), frame, (6,))

    def com(self, s: Any, *, base: Any = None) -> np.ndarray:
        """Centre of mass in the world [m]."""
        return self._call(COM, s, None, None, base, (0, 0, 0), None, (3,))

    def momentum(self, s: Any, nu: Any, *, base: Any = None) -> np.ndarray:
        """Linear momentum [kg m/s], angular momentum about the centre of mass [kg m^2/s]."""
        return self._call(MOMENTUM, s, nu, None, base, (0, 0, 0), None, (6,))

    def kinetic_energy(self, s: Any, nu: Any, *, base: Any = None) -> Any:
        """[J]"""
        return self._call(KINETIC, s, nu, None, base, (0, 0, 0), None, ())

    def potential_energy(self, s: Any, *, base: Any = None, gravity: Any = (0, 0, -9.81)) -> Any:
        """[J]"""
        return self._call(POTENTIAL, s, None, None, base, gravity, None, ())

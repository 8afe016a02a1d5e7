"""A controller in a process of its own: the other side of `moreau run --control` (docs/control-link.md)."""
from __future__ import annotations

import socket
import struct
import time as _time
from typing import Any, Dict, Iterator, NamedTuple, Optional

import numpy as np

from . import _core

HELLO, STATE, TORQUES, END = 1, 2, 3, 4


class RobotInfo(NamedTuple):
    """What the simulator says of a robot when the link begins."""
    joints: int  #: n
    dof: int  #: N
    step: float  #: [s]
    floating: bool


class LinkState(NamedTuple):
    """One robot at one control instant."""
    robot: int
    time: float  #: [s]
    base: np.ndarray  #: position [m], quaternion w x y z
    s: np.ndarray  #: joint positions [rad, m]
    nu: np.ndarray  #: velocities: of a floating base (6), then of the joints


class ControlLink:
    """The link to a simulator: iterate over the states and answer each with send(). Ends with the run."""

    def __init__(self, path: str, timeout: float = 10.0) -> None:
        self.robots: Dict[int, RobotInfo] = {}
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        end = _time.monotonic() + timeout
        while True:
            try:
                self._socket.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if _time.monotonic() > end:
                    self._socket.close()
                    raise _core.Error("%s: no simulator came within %g s" % (path, timeout)) from None
                _time.sleep(0.01)

    def _read(self, count: int) -> bytes:
        parts = []
        while count:
            part = self._socket.recv(count)
            if not part:
                raise ConnectionResetError("the simulator has gone")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def __iter__(self) -> Iterator[LinkState]:
        while True:
            try:
                magic, kind, robot, count = struct.unpack("<4sIII", self._read(16))
            except ConnectionResetError:
                return
            if magic != b"MOR1":
                raise _core.Error("the simulator's message does not begin with MOR1")
            x = np.frombuffer(self._read(8 * count), "<f8")
            if kind == END:
                return
            if kind == HELLO:
                self.robots[robot] = RobotInfo(int(x[0]), int(x[1]), float(x[2]), bool(x[3]))
            elif kind == STATE:
                n = self.robots[robot].joints
                yield LinkState(robot, float(x[0]), x[1:8], x[8:8 + n], x[8 + n:])

    def send(self, tau: Any, robot: int = 0) -> None:
        """Joint torques [N m, N]."""
        tau = np.ascontiguousarray(tau, "<f8")
        self._socket.sendall(struct.pack("<4sIII", b"MOR1", TORQUES, robot, tau.size) + tau.tobytes())

    def close(self) -> None:
        """Leaves the run: the simulator goes on without torques."""
        try:
            self._socket.sendall(struct.pack("<4sIII", b"MOR1", END, 0, 0))
        except OSError:
            pass
        self._socket.close()

    def __enter__(self) -> "ControlLink":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def connect(path: str, timeout: float = 10.0) -> ControlLink:
    """Connects to `moreau run SCENE --control unix:PATH`; waits for it up to `timeout` seconds.

        with moreau.connect("arm.sock") as link:
            for state in link:
                link.send(50 * (target - state.s) - 5 * state.nu)
    """
    return ControlLink(path, timeout)

"""A controller in a process of its own: the other side of `moreau run --control` (docs/control-link.md)."""
from __future__ import annotations

import os
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


class ControlServer:
    """The simulator's side of the link, for a world of this process; made by serve()."""

    def __init__(self, world: Any, path: str, timeout: float = 10.0, pace: float = 0.0) -> None:
        if not world.robots:
            raise _core.BadInput("the world has no robot to control")
        self._path, self._timeout, self._pace, self._link = path, timeout, pace, None
        self._first: Optional[tuple] = None
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(path)
        except OSError as error:
            listening.close()
            raise _core.SystemFailure("%s: %s" % (path, error.strerror or error)) from None
        try:
            listening.listen(1)
            listening.settimeout(timeout)
            self._link, _ = listening.accept()
        except socket.timeout:
            os.unlink(path)
            raise _core.SystemFailure("%s: no controller came within %g s" % (path, timeout)) from None
        finally:
            listening.close()
        self._link.settimeout(timeout)
        for robot in world.robots:
            n, dof = len(robot.s), len(robot.nu)
            self._send(HELLO, robot.number, [n, dof, world.h, float(dof > n)])
            robot.add_controller(self._exchange)

    def _send(self, kind: int, robot: int, numbers: Any) -> None:
        x = np.ascontiguousarray(numbers, "<f8")
        try:
            self._link.sendall(struct.pack("<4sIII", b"MOR1", kind, robot, x.size) + x.tobytes())
        except OSError:
            raise _core.Error("the controller does not take the state") from None

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            try:
                part = self._link.recv(count - len(data))
            except OSError:
                part = b""
            if not part:
                raise _core.Error("the controller did not answer in time, or it has gone")
            data += part
        return data

    def _exchange(self, c: Any) -> np.ndarray:
        if self._link is None:
            return np.zeros(len(c.s))
        if self._pace > 0:
            self._first = self._first or (c.time, _time.monotonic())
            ahead = (c.time - self._first[0]) / self._pace - (_time.monotonic() - self._first[1])
            _time.sleep(max(0.0, ahead))
        self._send(STATE, c.robot, np.concatenate([[c.time], c.base, c.s, c.nu]))
        magic, kind, robot, count = struct.unpack("<4sIII", self._read(16))
        if magic != b"MOR1":
            raise _core.Error("the controller's answer does not begin with MOR1")
        if kind == END:
            self._drop()
            return np.zeros(len(c.s))
        if kind != TORQUES or robot != c.robot or count != len(c.s):
            raise _core.Error("the controller's answer is not the torques of this robot's joints")
        return np.frombuffer(self._read(8 * count), "<f8")

    def _drop(self) -> None:
        if self._link is not None:
            self._link.close()
            os.unlink(self._path)
        self._link = None

    def close(self) -> None:
        """Tells the controller that the run is over. The world goes on without its torques."""
        if self._link is not None:
            try:
                self._send(END, 0, [])
            except _core.Error:
                pass
        self._drop()

    def __enter__(self) -> "ControlServer":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def serve(world: Any, path: str, timeout: float = 10.0, pace: float = 0.0) -> ControlServer:
    """The robots of a world get their torques from a controller in another process, as with `moreau run --control`: waits
    for it at the socket `path`, then every control instant of world.step() asks it, up to `timeout` seconds long.
    `pace` 1 holds the run back to real time; 0: as fast as it goes.

        with moreau.serve(world, "arm.sock"):
            world.step(500)
    """
    return ControlServer(world, path, timeout, pace)


def connect(path: str, timeout: float = 10.0) -> ControlLink:
    """Connects to `moreau run SCENE --control unix:PATH`; waits for it up to `timeout` seconds.

        with moreau.connect("arm.sock") as link:
            for state in link:
                link.send(50 * (target - state.s) - 5 * state.nu)
    """
    return ControlLink(path, timeout)

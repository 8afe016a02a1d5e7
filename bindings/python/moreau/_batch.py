"""Many worlds at once, and an environment for learning."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from . import _core, _scene


class Batch(_core.Batch):
    """n independent worlds of one scene, stepped on all cores.

        batch = moreau.Batch("humanoid.yaml", 256)
        batch.q = batch.q + 0.01 * rng.standard_normal(batch.q.shape)
        for k in range(1000):
            failed = batch.step(10, tau=policy(batch.q, batch.v))

    q (n x nq), v (n x nv), poses (n x bodies x 7) and velocities (n x bodies x 6) are live read-only arrays; assign to set
    them. The bits of a world do not depend on the number of threads."""

    def __init__(self, scene: Any, n: int, *, threads: Optional[int] = None, step: Optional[float] = None,
                 set: Optional[Mapping[str, Any]] = None, formulation: Optional[str] = None,
                 solver: Optional[str] = None) -> None:
        words = _scene.overrides(set, **{"time.step": step, "method.formulation.name": formulation,
                                         "method.solver.name": solver})
        super().__init__(_scene.read(scene, words), int(n), threads or len(os.sched_getaffinity(0)))

    def step(self, n: int = 1, *, tau: Any = None, forces: Any = None, poses: bool = False) -> int:
        """n steps of every world. `tau`: n x joints, joint torques [N m, N] held over the steps; `forces`: n x bodies x 6,
        force [N] at the centre of mass and torque [N m]. Fills q and v (and with poses=True also poses and velocities)
        while the worlds are in cache. Returns how many worlds did not come to the end; `errors` tells why."""
        return self._step(n, tau, forces, poses)

    @property
    def errors(self) -> List[str]:
        """One sentence per world, "" for those whose last step() went well."""
        return self._errors()

    def reset(self, worlds: Optional[Iterable[int]] = None) -> None:
        """Puts worlds (None: all) back to the initial state of the scene."""
        for i in range(self.n) if worlds is None else worlds:
            self._restore(int(i), None)

    def save(self, world: int) -> bytes:
        """A snapshot of one world."""
        return self._save(world)

    def restore(self, world: int, snapshot: bytes) -> None:
        """Puts a snapshot of any world of this scene into one."""
        self._restore(world, snapshot)

    def read(self, channel: str) -> np.ndarray:
        """n x numbers: a channel of the output bus of all worlds."""
        return self._bus(channel)

    def state_hash(self, world: int) -> str:
        """As World.state_hash."""
        return self._hash(world)


class Space(NamedTuple):
    """A box of numbers, with the attributes that gymnasium's Box has."""
    low: np.ndarray
    high: np.ndarray
    shape: tuple
    dtype: type = np.float64

    def contains(self, x: Any) -> bool:
        x = np.asarray(x)
        return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

    def sample(self, rng: Optional[np.random.Generator] = None) -> np.ndarray:
        rng = rng or np.random.default_rng()
        bounded = np.isfinite(self.low) & np.isfinite(self.high)
        return np.where(bounded, rng.uniform(np.where(bounded, self.low, 0), np.where(bounded, self.high, 1)),
                        rng.standard_normal(self.shape))


class Environment:
    """A world with reset and step as gymnasium's environments have them (the package itself is not needed).

    The action is the joint torques of all robots, scaled by `limits` [N m, N]; the observation is q and v. `reward` and
    `terminated` are functions of the environment, called after each step; `noise` is the standard deviation of what reset
    adds to q and v. An episode is truncated after `max_steps` actions of `frame_skip` steps each.

        env = moreau.Environment("walker.yaml", frame_skip=5, reward=lambda e: e.world.body("walker/torso").velocity[0])
        observation, info = env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    """

    metadata: Dict[str, Any] = {"render_modes": []}
    render_mode = None

    def __init__(self, scene: Any, *, frame_skip: int = 1, max_steps: int = 1000, limits: Any = 1.0, noise: float = 0.0,
                 reward: Optional[Callable[["Environment"], float]] = None,
                 terminated: Optional[Callable[["Environment"], bool]] = None, **keys: Any) -> None:
        from ._world import World
        self.world = World(scene, **keys)
        self.frame_skip, self.max_steps, self.noise = frame_skip, max_steps, noise
        self._reward, self._terminated = reward, terminated
        self._start = self.world.save()
        self._robots = self.world.robots
        joints = sum(len(r.joints) for r in self._robots)
        self.limits = np.broadcast_to(np.asarray(limits, float), (joints,)).copy()
        size = len(self.world.q) + len(self.world.v)
        self.action_space = Space(-np.ones(joints), np.ones(joints), (joints,))
        self.observation_space = Space(np.full(size, -np.inf), np.full(size, np.inf), (size,))
        self.np_random = np.random.default_rng()
        self.actions = 0

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.world.q, self.world.v])

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict] = None) -> Tuple[np.ndarray, dict]:
        """The initial state, with noise drawn from the seed."""
        if seed is not None:
            self.np_random = np.random.default_rng(seed)
        self.world.restore(self._start)
        self.actions = 0
        if self.noise:
            self.world.q = self.world.q + self.noise * self.np_random.standard_normal(len(self.world.q))
            self.world.v = self.world.v + self.noise * self.np_random.standard_normal(len(self.world.v))
        return self._observe(), {"time": self.world.time}

    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, dict]:
        """Observation, reward, terminated, truncated, info. A step that is not solved terminates the episode."""
        tau = np.clip(np.asarray(action, float), -1, 1) * self.limits
        failed = ""
        try:
            for _ in range(self.frame_skip):
                at = 0
                for robot in self._robots:
                    robot.apply(tau[at:at + len(robot.joints)])
                    at += len(robot.joints)
                self.world.step()
        except _core.NotSolved as error:
            failed = str(error)
        self.actions += 1
        reward = float(self._reward(self)) if self._reward else 0.0
        over = bool(failed) or bool(self._terminated and self._terminated(self))
        info = {"time": self.world.time, "failed": failed}
        return self._observe(), reward, over, self.actions >= self.max_steps, info

    def render(self) -> None:
        return None

    def close(self) -> None:
        self.world.close()

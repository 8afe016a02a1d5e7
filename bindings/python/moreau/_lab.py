"""The laboratory: recordings, comparison, figures, the viewer."""
from __future__ import annotations

import html
import os
import shutil
import subprocess
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import _core
from ._problem import Problem, solve

HERE = os.path.dirname(os.path.abspath(__file__))


def command() -> str:
    """Where the command `moreau` is: $MOREAU, the one of this package, or the first in PATH."""
    found = os.environ.get("MOREAU")
    if not found and os.access(os.path.join(HERE, "bin", "moreau"), os.X_OK):
        found = os.path.join(HERE, "bin", "moreau")
    found = found or shutil.which("moreau")
    if not found:
        raise _core.Error("the command moreau is not there; set the environment variable MOREAU to its path")
    return found


def _call(*words: str) -> str:
    done = subprocess.run([command(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode > 1:
        said = done.stderr.strip()
        kind = _core.BadInput if done.returncode == 2 else _core.SystemFailure
        raise kind(said[len("moreau: "):] if said.startswith("moreau: ") else said)
    return done.stdout


def run(scene: Any, steps: Optional[int] = None, **keys: Any) -> dict:
    """Runs a scene and returns the numbers that `moreau run --json` prints. Keys as of World."""
    from ._world import World
    with World(scene, **keys) as world:
        return world.run(steps)


# ------------------------------------------------------------------------------------------------ recordings

class Recording:
    """A recording as numpy arrays (docs/recording.md). SI units, world frame, quaternions real part first.

    time (F) [s], pose (F x B x 7), velocity (F x B x 6), names (B), masses (B) [kg], kinetic, potential, total (F) [J],
    penetration (F) [m], steps (F), and everything else by its name in the file: recording["solver/iterations"]."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        try:
            import h5py
        except ImportError:
            raise _core.Error("reading recordings needs h5py (Debian: python3-h5py)") from None
        self.path = os.fspath(path)
        if not os.path.exists(self.path):
            raise _core.BadInput("%s: no such file" % self.path)
        try:
            file = h5py.File(self.path, "r", libver="latest", swmr=True)
        except OSError as error:
            raise _core.BadInput("%s: %s" % (self.path, error)) from None
        with file:
            meta = dict(file["meta"].attrs) if "meta" in file else {}
            kind = meta.get("format", b"")
            if (kind.decode() if isinstance(kind, bytes) else kind) != "moreau recording":
                raise _core.BadInput("%s: not a recording of Moreau" % self.path)
            self.meta = {k: v.decode() if isinstance(v, bytes) else v for k, v in meta.items()}
            frames = len(file["time"])
            self._data: Dict[str, np.ndarray] = {}
            whole = ("bodies/", "shapes/", "meta/", "joints/name", "joints/kind", "joints/body", "joints/point",
                     "joints/axis")

            def take(name: str, item: Any) -> None:
                if hasattr(item, "shape"):
                    value = item[()]
                    per_frame = not name.startswith(whole) and not name.startswith("contacts/")
                    per_frame = per_frame or name in ("contacts/start", "contacts/count")
                    self._data[name] = value[:frames] if per_frame and np.ndim(value) else value
            file.visititems(take)
        self.time = self["time"]
        self.pose, self.velocity = self["pose"], self["velocity"]
        self.names = [n.decode().rstrip("\0") for n in self["bodies/name"]]
        self.masses = self["bodies/mass"]
        self.kinetic, self.potential, self.total = (self["energy/" + k] for k in ("kinetic", "potential", "total"))
        self.penetration, self.steps = self["penetration"], self["step_number"]

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self._data[name.lstrip("/")]
        except KeyError:
            raise _core.BadInput("the recording has no '%s'; it has %s" % (name, ", ".join(sorted(self._data)))) from None

    def __contains__(self, name: str) -> bool:
        return name.lstrip("/") in self._data

    def keys(self) -> List[str]:
        return sorted(self._data)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return "Recording(%r, %d frames, %d bodies)" % (self.path, len(self), len(self.names))

    def body(self, name: str) -> int:
        """Its row in pose and velocity."""
        if name not in self.names:
            raise _core.BadInput("the recording has no body '%s'" % name)
        return self.names.index(name)

    def contacts(self, frame: int) -> dict:
        """Contacts of one frame: body (n x 2), point (n x 2 x 3) [m], normal, gap [m], impulse [N s] ..."""
        first, count = int(self["contacts/start"][frame]), int(self["contacts/count"][frame])
        names = ("body", "shape", "point", "normal", "gap", "impulse", "normal_impulse", "feature")
        return {n: self["contacts/" + n][first:first + count] for n in names if "contacts/" + n in self}

    def to_pandas(self) -> Any:
        """A table with a row per frame: energies, penetration, and x y z qw qx qy qz vx vy vz wx wy wz of every body."""
        import pandas
        columns: Dict[str, np.ndarray] = {"kinetic": self.kinetic, "potential": self.potential, "total": self.total,
                                          "penetration": self.penetration}
        for b, name in enumerate(self.names):
            for k, word in enumerate(("x", "y", "z", "qw", "qx", "qy", "qz")):
                columns["%s.%s" % (name, word)] = self.pose[:, b, k]
            for k, word in enumerate(("vx", "vy", "vz", "wx", "wy", "wz")):
                columns["%s.%s" % (name, word)] = self.velocity[:, b, k]
        return pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))


def read_recording(path: Union[str, "os.PathLike[str]"]) -> Recording:
    """Reads what `moreau run --record` or World.record wrote, also while it is being written."""
    return Recording(path)


def _laboratory() -> Any:
    try:
        from . import _laboratory as module  # type: ignore[attr-defined]
    except ImportError as error:
        raise _core.Error("this build of the package has no laboratory (HDF5): %s" % error) from None
    return module


def read_bpmd(path: Union[str, "os.PathLike[str]"], directions: int = 0) -> List[Problem]:
    """The problems of a BPMD file (docs/bpmd.md), frame by frame and group by group of bodies, in STEP form."""
    module = _laboratory()
    file, count = module.open_bpmd(os.fspath(path))
    problems = []
    for frame in range(count):
        world = module.read_bpmd(file, frame)
        for core, _, _ in _core.stored_problems(world, directions):
            problems.append(Problem._of(core))
    return problems


# ------------------------------------------------------------------------------------------------ comparison

class Table(list):
    """Rows of a comparison (dicts); prints as a table, becomes a pandas table with to_pandas()."""

    columns = ("problem", "solver", "status", "error", "iterations", "time_s")

    def __str__(self) -> str:
        rows = [[("%.3g" % r[c]) if isinstance(r[c], float) else str(r[c]) for c in self.columns] for r in self]
        widths = [max([len(c)] + [len(row[i]) for row in rows]) for i, c in enumerate(self.columns)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(self.columns, widths))]
        return "\n".join(lines + ["  ".join(x.ljust(w) for x, w in zip(row, widths)) for row in rows])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join("<th>%s</th>" % c for c in self.columns)
        body = "".join("<tr>%s</tr>" % "".join(
            "<td>%s</td>" % html.escape("%.3g" % r[c] if isinstance(r[c], float) else str(r[c])) for c in self.columns)
            for r in self)
        return "<table><tr>%s</tr>%s</table>" % (head, body)

    def to_pandas(self) -> Any:
        import pandas
        return pandas.DataFrame(list(self))

    def summary(self) -> Dict[str, dict]:
        """solver -> problems solved, of how many, and the median time of those solved [s]."""
        found: Dict[str, dict] = {}
        for r in self:
            s = found.setdefault(r["solver"], {"solved": 0, "of": 0, "times": []})
            s["of"] += 1
            if r["status"] == "solved":
                s["solved"] += 1
                s["times"].append(r["time_s"])
        for s in found.values():
            times = s.pop("times")
            s["median_s"] = float(np.median(times)) if times else float("nan")
        return found


def compare(problems: Any, solvers: Optional[Sequence[str]] = None, *, tol: float = 1e-8, time_limit: float = 1.0,
            steps: int = 20, repeat: int = 1, directions: int = 0) -> Table:
    """Runs solvers, those written in Python included, on the same problems from the same start (zero), each judged by the
    same judge on the problem as given.

    `problems`: a Problem, a list of them, or scenes and Worlds: of these, the problems of `steps` steps. `solvers`: names
    (default: all that apply). `time_limit` [s] per run. With repeat > 1 the median time is kept; solvers take turns, so
    that a disturbance of the machine hits all of them. For the whole laboratory (processes, memory limits, pages) use
    the command `moreau compare`."""
    from ._methods import solvers as known
    from ._world import World
    found: List[tuple] = []
    for k, item in enumerate(problems if isinstance(problems, (list, tuple)) else [problems]):
        if isinstance(item, Problem):
            found.append((item._core.name or "problem %d" % k, item))
            continue
        world = item if isinstance(item, World) else World(item)
        for _ in range(steps):
            world.step()
            found += [("%s step %d.%d" % (world.scene.name, world.steps, i), p)
                      for i, p in enumerate(world.problems(directions)) if p.unknowns]
    table = Table()
    for name, problem in found:
        names = list(solvers or known())
        names = [s for s in names if _core.applies(s, problem._core)] if solvers is None else names
        times: Dict[str, list] = {s: [] for s in names}
        answers = {}
        for _ in range(max(1, repeat)):
            for s in names:
                answers[s] = solve(problem, s, tol=tol, time_limit=time_limit)
                times[s].append(answers[s].time)
        for s in names:
            a = answers[s]
            table.append({"problem": name, "solver": s, "status": a.status, "error": a.error,
                          "iterations": a.iterations, "time_s": float(np.median(times[s])), "detail": a.detail,
                          "size": problem.unknowns})
    return table


# ------------------------------------------------------------------------------------------- figures, viewer

def plot(recording: Any, *quantities: str, bodies: Optional[Sequence[str]] = None, axes: Any = None) -> Any:
    """Draws quantities of a recording (or of a file) over time with matplotlib: "energy", "position", "velocity",
    "penetration", "contacts", or any dataset with a number per frame. Returns the figure."""
    import matplotlib.pyplot as pyplot
    r = recording if isinstance(recording, Recording) else Recording(recording)
    wanted = quantities or ("energy",)
    if axes is None:
        figure, axes = pyplot.subplots(len(wanted), 1, sharex=True, squeeze=False, figsize=(7, 2.4 * len(wanted)),
                                       layout="constrained")
        axes = axes[:, 0]
    else:
        axes = np.atleast_1d(axes)
        figure = axes[0].figure
    moving = [b for b in range(len(r.names)) if r["bodies/kind"][b] == 0]
    chosen = [r.body(b) for b in bodies] if bodies else moving[:6]
    for ax, what in zip(axes, wanted):
        if what == "energy":
            for key, y in (("kinetic", r.kinetic), ("potential", r.potential), ("total", r.total)):
                ax.plot(r.time, y, label=key)
            ax.set_ylabel("energy [J]")
        elif what in ("position", "velocity"):
            source = r.pose if what == "position" else r.velocity
            for b in chosen:
                for k, word in enumerate("xyz"):
                    ax.plot(r.time, source[:, b, k], label="%s %s" % (r.names[b], word))
            ax.set_ylabel("position [m]" if what == "position" else "velocity [m/s]")
        elif what == "contacts":
            ax.step(r.time, r["solver/contacts"], where="post", label="contacts")
            ax.set_ylabel("contacts")
        else:
            y = r[what] if what in r else r[what.replace(".", "/")]
            ax.plot(r.time, y, label=what)
            ax.set_ylabel(what)
        if len(ax.lines) <= 12:
            ax.legend(loc="best", fontsize="small")
        ax.grid(True, alpha=0.3)
    axes[-1].set_xlabel("time [s]")
    return figure


class Page:
    """A page of the viewer for a notebook; .text is the HTML."""

    def __init__(self, text: str, height: int) -> None:
        self.text, self.height = text, height

    def _repr_html_(self) -> str:
        source = html.escape(self.text, quote=True)
        return '<iframe srcdoc="%s" width="100%%" height="%d" style="border:0"></iframe>' % (source, self.height)

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)


def show(what: Any, *, height: int = 480, size: float = 3.0) -> Page:
    """The viewer's page with a recording inside: of a recording or its file, or of a scene, World or dict, which is run
    from its start (a World: to its present time). What Python code did to a world is only in recordings of it
    (World.record)."""
    from ._world import World
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        if isinstance(what, Recording):
            source = what.path
        elif isinstance(what, (str, os.PathLike)) and os.fspath(what).endswith((".h5", ".hdf5")):
            source = os.fspath(what)
        else:
            source = os.path.join(folder, "run.h5")
            world = World(what.scene if isinstance(what, World) else what)
            until = what.time if isinstance(what, World) and what.steps else world.scene.end
            with world.record(source):
                world.advance(until)
        _call("view", source, "--html", page, "--size", str(size))
        with open(page, encoding="utf-8") as file:
            return Page(file.read(), height)


class record:
    """Records what a world does, from now on: with world.record("run.h5"): world.step(100)"""

    def __init__(self, world: Any, path: Union[str, "os.PathLike[str]"]) -> None:
        self.world, self.path = world, os.fspath(path)
        self.module = _laboratory()
        if not hasattr(world, "_tap"):
            world._tap = self.module.attach(world._pointers()[0])
        self.module.start(world._tap, self.path, *world._pointers())

    def close(self) -> None:
        """Writes what is left. Errors of writing are raised here."""
        self.module.stop(self.world._tap)

    def __enter__(self) -> "record":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

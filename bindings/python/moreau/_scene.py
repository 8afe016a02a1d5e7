"""Scenes: files, dictionaries, and a builder that writes the same dictionary."""
from __future__ import annotations

import json
import os
import re
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import _core

HERE = os.path.dirname(os.path.abspath(__file__))


def plain(value: Any) -> Any:
    """A value as JSON has it: arrays become lists, numpy's numbers plain ones."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return value


def file_of(data: Any) -> str:
    """A scene's dictionary as the text of a scene file: JSON, with infinity as YAML writes it."""
    words = {"Infinity": ".inf", "-Infinity": "-.inf", "NaN": ".nan"}
    return re.sub(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN', lambda m: words.get(m.group(), m.group()), json.dumps(data, indent=1))


def text_of(value: Any) -> str:
    """A value as scenes and options write it; never in the style of a locale."""
    value = plain(value)
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return json.dumps(value)


def overrides(set: Optional[Mapping[str, Any]], **named: Any) -> list:
    words = ["%s=%s" % (key, text_of(value)) for key, value in (set or {}).items()]
    return words + ["%s=%s" % (key, text_of(value)) for key, value in named.items() if value is not None]


def locate(name: str) -> str:
    """A file, or a scene that came with the package."""
    name = os.fspath(name)
    if os.path.exists(name) or os.sep in name:
        return name
    for folder, _, names in sorted(os.walk(os.path.join(HERE, "scenes"))):
        for ending in ("", ".yaml"):
            if name + ending in names:
                return os.path.join(folder, name + ending)
    return name


class Scene:
    """A scene written in code: everything a scene file can say, with the same words (docs/scene.md).

        scene = moreau.Scene(step=0.002)
        scene.body("floor", shape="plane", fixed=True)
        scene.body("ball", shape={"sphere": 0.1}, mass=1, position=[0, 0, 1])
        world = moreau.World(scene)
    """

    def __init__(self, step: float = 0.01, end: float = 1.0, **keys: Any) -> None:
        self.data: dict = {"moreau": 1, "time": {"step": step, "end": end}}
        self.data.update(plain(keys))

    def _append(self, key: str, entry: dict) -> "Scene":
        self.data.setdefault(key, []).append(plain(entry))
        return self

    def body(self, name: str, **keys: Any) -> "Scene":
        """One entry of `bodies`: shape, mass [kg], position [m], orientation, velocity [m/s], fixed ..."""
        return self._append("bodies", {"name": name, **keys})

    def joint(self, name: str, **keys: Any) -> "Scene":
        """One entry of `joints`."""
        return self._append("joints", {"name": name, **keys})

    def robot(self, name: str, **keys: Any) -> "Scene":
        """One entry of `robots`: urdf, position, joints ..."""
        return self._append("robots", {"name": name, **keys})

    def controller(self, **keys: Any) -> "Scene":
        """One entry of `controllers`."""
        return self._append("controllers", keys)

    def force(self, **keys: Any) -> "Scene":
        """One entry of `forces`."""
        return self._append("forces", keys)

    def pair(self, a: str, b: str, **keys: Any) -> "Scene":
        """Friction and restitution of two materials."""
        return self._append("pairs", {"materials": [a, b], **keys})

    def ignore(self, a: str, b: str) -> "Scene":
        """Two bodies that do not touch each other."""
        return self._append("ignore_pairs", [a, b])

    def material(self, name: str, **keys: Any) -> "Scene":
        """friction, restitution, density [kg/m^3]."""
        self.data.setdefault("materials", {})[name] = plain(keys)
        return self

    def method(self, **keys: Any) -> "Scene":
        """formulation, solver, collision, on_failure, accuracy ..."""
        self.data.setdefault("method", {}).update(plain(keys))
        return self

    def text(self) -> str:
        """The scene file (JSON, which is YAML)."""
        return file_of(self.data)


def read(scene: Union[str, Mapping, Scene, "os.PathLike[str]"], words: list, folder: Optional[str] = None) -> Any:
    """A scene as the library read it. Files of a scene written in code are relative to `folder` (here: the present one)."""
    if isinstance(scene, _core.Scene):
        return scene
    if isinstance(scene, Scene):
        scene = scene.data
    if isinstance(scene, Mapping):
        data = dict(plain(scene))
        data.setdefault("moreau", 1)
        name = os.path.join(folder or os.getcwd(), data.get("name", "scene"))
        return _core.Scene(name, file_of(data), words)
    return _core.Scene(locate(scene), None, words)

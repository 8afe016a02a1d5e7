#!/usr/bin/env python3
"""Iterations in frames of `moreau run --bpmd`, judged from outside with numpy and h5py alone (docs/bpmd.md, docs/notation.md).

    frames.py COMMAND [COUNT] [SEED]

COUNT random scenes of balls in several islands, one step each, by every formulation with circular cones. A run stores errors and contact
states of all its iterations. Other runs stop after 1, 2, 3 ... iterations (max_iter) and store their impulses: from these and from the
bodies and contacts of the frame every number of that iteration is computed here, to 1e-12 of its size. Total error, normal error, friction
error and stick of Table 2 of the paper must be the same in the file with the paper's names.
"""
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from outside import measures

METHODS = ["ncp:nsgs", "ncp:psor", "ncp:jacobi", "ncp:prox-ncp", "ncp:extragradient", "mncp:nsgs", "implicit:nsgs", "implicit:extragradient", "convex:apgd", "convex:extragradient"]
NAMES = {"total_error_fb": "total_error", "total_error_cck": "total_error_cck", "normal_error": "normal_error", "friction_power": "friction_error"}


def scene(random):
    """Chains of balls on a floor, each an island."""
    lines = ["moreau: 1", "time: { step: 0.004, end: 1 }", "bodies:", "  - { name: floor, fixed: true, friction: 0.6, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } } }"]
    for island in range(random.integers(2, 4)):
        at = np.array([0.0, 10.0 * island])
        for ball in range(random.integers(1, 5)):
            v, w = random.normal(size=3) * [0.5, 0.5, 0] - [0, 0, abs(random.normal())], random.normal(size=3)
            lines.append(
                f"  - {{ name: b{island}_{ball}, shape: {{ sphere: 0.5 }}, mass: {10 ** random.uniform(-1, 1):.6g}, friction: {random.uniform(0.1, 0.9):.6g}, "
                f"position: [{at[0]:.9f}, {at[1]:.9f}, 0.5], velocity: [{v[0]:.6g}, {v[1]:.6g}, {v[2]:.6g}], angular_velocity: [{w[0]:.6g}, {w[1]:.6g}, {w[2]:.6g}] }}"
            )
            way = random.uniform(-0.8, 0.8)
            at = at + (1.0 + 1e-6) * np.array([np.cos(way), np.sin(way)])
    return "\n".join(lines) + "\n"


def rows_of(frame):
    """W, q and mu of all contacts, from the numbers of the frame as docs/bpmd.md says."""
    ids = list(frame["bodies/ids"])
    x, mass = np.array(frame["bodies/positions"]), np.array(frame["bodies/masses"])
    inertia, free = np.array(frame["bodies/free_inertia_tensors"]).reshape(-1, 3, 3), np.array(frame["bodies/free_velocities"])
    pairs, normals, tangents = np.array(frame["contacts/pairs"]), np.array(frame["contacts/normals"]), np.array(frame["contacts/tangents"])
    points = (np.array(frame["contacts/points"]) + np.array(frame["contacts/points_2"])) / 2
    J, M = np.zeros((3 * len(pairs), len(free))), np.zeros((len(free), len(free)))
    for i, m in enumerate(mass):
        if np.isfinite(m):
            M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / m
            M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = np.linalg.inv(inertia[i])
    for c, pair in enumerate(pairs):
        for k, d in enumerate([normals[c], tangents[c][:3], tangents[c][3:]]):
            for body, sign in ((pair[0], -1), (pair[1], 1)):
                if body > 0:
                    i = ids.index(body)
                    J[3 * c + k, 6 * i : 6 * i + 6] = sign * np.concatenate([d, np.cross(points[c] - x[i], d)])
    bias = np.zeros(3 * len(pairs))
    bias[::3] = np.array(frame["contacts/gaps"]) / frame["timestep"][()]
    return J @ M @ J.T, J @ free + bias, np.array(frame["contacts/mu_s"])[:, 0]


def run(command, folder, text, method, name, *more):
    path, formulation, solver = os.path.join(folder, name), *method.split(":")
    with open(os.path.join(folder, "scene.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    line = [command, "run", os.path.join(folder, "scene.yaml"), "--formulation", formulation, "--solver", solver, "--steps", "1", "--set", "method.on_failure=warn", "--bpmd", path, "--quiet", *more]
    result = subprocess.run(line, capture_output=True, text=True)
    if not os.path.exists(path):
        sys.exit(f"{method}: {result.stderr}")
    return h5py.File(path)


def check(command, folder, text, method):
    """Iterations looked at, and the largest difference."""
    form, worst = method.split(":")[0], 0.0
    most = 10
    limit = ["--set", f"method.solver.max_iter={most}"]
    with run(command, folder, text, method, "all.h5", *limit) as file, run(command, folder, text, method, "paper.h5", *limit, "--bpmd-names", "paper") as paper:
        frame = file["mbs_frame000001"]
        stored = {k: np.array(v) for k, v in frame["solutions"][method.replace(":", "-")].items()}
        W, q, mu = rows_of(frame)
        for ours, theirs in NAMES.items():
            if not np.array_equal(stored[ours], np.array(paper["mbs_frame000001/solutions"][theirs])):
                sys.exit(f"{method}: {theirs} in the names of the paper is another")
        if not np.array_equal(stored["stick"], np.array(paper["mbs_frame000001/solutions/stick"])):
            sys.exit(f"{method}: stick in the names of the paper is another")
    if form == "convex":
        W = W + np.diag(np.repeat(1e-6 * W.diagonal()[::3], 3))
    n, seen = len(mu), 0
    if stored["stick"].shape != (len(stored["iteration"]), n):
        sys.exit(f"{method}: stick is {stored['stick'].shape} for {n} contacts")
    for line, k in enumerate(stored["iteration"].astype(int)):
        if k < 1:
            continue
        name = f"{k}.h5"
        with run(command, folder, text, method, name, "--set", f"method.solver.max_iter={k}", "--bpmd-iterations", "0") as file:
            r = np.array(file["mbs_frame000001/solutions"][method.replace(":", "-")]["impulses"])
        os.remove(os.path.join(folder, name))
        u = (W @ r.ravel() + q).reshape(n, 3)
        for what, (want, size) in measures(W, u, mu, r, form).items():
            off = abs(stored[what][line] - want) / (abs(want) + size)
            worst = max(worst, off)
            if not off <= 1e-12:
                sys.exit(f"{method}: {what} of iteration {k} is {stored[what][line]:.17g}, here {want:.17g}\n{text}")
        slip = np.linalg.norm(u[:, 1:], axis=1)
        state = np.where(r[:, 0] > 0, np.where(slip > 1e-6, 0, 1), -1)
        clear = abs(slip - 1e-6) > 1e-9
        if (state != stored["stick"][line])[clear].any():
            sys.exit(f"{method}: stick of iteration {k} is {stored['stick'][line]}, here {state}\n{text}")
        seen += 1
    for name in ("all.h5", "paper.h5"):
        os.remove(os.path.join(folder, name))
    return seen, worst


def main():
    command, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seen, worst = 0, 0.0
    for k in range(count):
        text = scene(np.random.default_rng(1000 * seed + k))
        for method in METHODS:
            with tempfile.TemporaryDirectory() as folder:
                n, off = check(command, folder, text, method)
            if n < 1:
                sys.exit(f"{method}: no iteration is stored\n{text}")
            seen, worst = seen + n, max(worst, off)
    print(f"{count} scenes, {len(METHODS)} methods: {seen} iterations in frames of `run --bpmd` differ by at most {worst:.1e}")


main()

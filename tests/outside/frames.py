#!/usr/bin/env python3
"""Iterations in frames of `moreau run --bpmd`, judged from outside with numpy and h5py alone (docs/bpmd.md, docs/notation.md).

    frames.py COMMAND [COUNT] [SEED]

COUNT random scenes of balls in several islands, one step each, by every formulation with circular cones, with friction polygons of 3 to 9
corners, and, without friction, by the forms whose unknowns are no contacts (LCP, mixed LCP, QP). A run stores errors and contact states of
all its iterations. Other runs stop after 1, 2, 3 ... iterations (max_iter) and store their impulses: from these and from the bodies and
contacts of the frame every number of that iteration is computed here, to 1e-12 of its size. Total error, normal error, friction error and
stick of Table 2 of the paper must be the same in the file with the paper's names. With friction the LCP is made here from the frame, given
to `moreau compare` as a file, and every iterate of every solver of LCPs judged.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from outside import cck, fb, measures

POLYGONS = ["st:nsgs", "st:psor", "st:jacobi", "st:pgs", "st:lemke", "st:auto", "ap:nsgs", "ap:psor", "ap:pgs"]
SMOOTH = ["st/lcp:psor", "st/lcp:jacobi", "st/lcp:pgs", "st/lcp:lemke", "st/mlcp:path", "gauss:qp-admm", "gauss:qp-active-set"]
WHOLE = ["lemke", "path", "auto"]  # iterates of these cannot be had by stopping: the answer alone
METHODS = ["ncp:nsgs", "ncp:psor", "ncp:jacobi", "ncp:prox-ncp", "ncp:extragradient", "mncp:nsgs", "implicit:nsgs", "implicit:extragradient", "convex:apgd", "convex:extragradient"]
NAMES = {"total_error_fb": "total_error", "total_error_cck": "total_error_cck", "normal_error": "normal_error", "friction_power": "friction_error"}


def scene(random, kind):
    """Chains of balls on a floor, each an island; kind "one": one ball."""
    friction = 0.0 if kind in ("smooth", "one") else 0.6
    corners = f"method: {{ friction_directions: {random.integers(3, 10)} }}" if kind == "polygon" else "# circles"
    lines = ["moreau: 1", "time: { step: 0.004, end: 1 }", corners, "bodies:", f"  - {{ name: floor, fixed: true, friction: {friction}, shape: {{ plane: {{ normal: [0, 0, 1], point: [0, 0, 0] }} }} }}"]
    for island in range(1 if kind == "one" else random.integers(2, 4)):
        at = np.array([0.0, 10.0 * island])
        for ball in range(1 if kind == "one" else random.integers(1, 5)):
            v, w = random.normal(size=3) * [0.5, 0.5, 0] - [0, 0, abs(random.normal())], random.normal(size=3)
            lines.append(
                f"  - {{ name: b{island}_{ball}, shape: {{ sphere: 0.5 }}, mass: {10 ** random.uniform(-1, 1):.6g}, friction: {random.uniform(0.1, 0.9) * (friction > 0):.6g}, "
                f"position: [{at[0]:.9f}, {at[1]:.9f}, 0.5], velocity: [{v[0]:.6g}, {v[1]:.6g}, {v[2]:.6g}], angular_velocity: [{w[0]:.6g}, {w[1]:.6g}, {w[2]:.6g}] }}"
            )
            way = random.uniform(-0.8, 0.8)
            at = at + (1.0 + 1e-6) * np.array([np.cos(way), np.sin(way)])
    return "\n".join(lines) + "\n"


def rows_of(frame, form):
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
    if form not in ("ap", "gauss"):  # contacts that touch may not approach there
        bias[::3] = np.array(frame["contacts/gaps"]) / frame["timestep"][()]
    return J @ M @ J.T, J @ free + bias, np.array(frame["contacts/mu_s"])[:, 0]


def polygon(W, u, mu, p, corners):
    """Errors of impulses p (contacts x 3) on a polygon, by its Stewart-Trinkle rows (docs/notation.md), and their sizes."""
    turn = 2 * np.pi * np.arange(corners) / corners
    directions, total_fb, total_cck, natural, normals, frictions = np.column_stack([np.cos(turn), np.sin(turn)]), 0.0, 0.0, 0.0, [0.0], [0.0]
    for c, m in enumerate(mu):
        rho = 1 / np.linalg.norm(W[3 * c : 3 * c + 3, 3 * c : 3 * c + 3])
        beta = np.zeros(corners)
        if p[c, 1:].any():  # the two directions around the friction force
            first = int(np.arctan2(p[c, 2], p[c, 1]) % (2 * np.pi) // (2 * np.pi / corners)) % corners
            two = [first, (first + 1) % corners]
            beta[two] = np.linalg.solve(directions[two].T, p[c, 1:])
        s = max(0.0, (-directions @ u[c, 1:]).max())
        x, y = np.append(beta / rho, s), np.append(directions @ u[c, 1:] + s, (m * p[c, 0] - beta.sum()) / rho)
        x, y = np.append(p[c, 0] / rho, x), np.append(u[c, 0], y)
        total_fb, total_cck, natural = total_fb + (fb(x, y) ** 2).sum(), total_cck + (cck(x, y) ** 2).sum(), natural + (np.minimum(x, y) ** 2).sum()
        normals.append(abs(min(x[0], y[0])))
        frictions.append(abs(np.minimum(x[1:], y[1:])).max())
    scale = max(1e-300, np.abs(u).max(), np.abs(p).max() / min(1 / np.linalg.norm(W[3 * c : 3 * c + 3, 3 * c : 3 * c + 3]) for c in range(len(mu))))
    power = (np.linalg.norm(u[:, 1:], axis=1) * np.linalg.norm(p[:, 1:], axis=1)).sum()
    return {
        "total_error_fb": (total_fb / 2, scale**2),
        "total_error_cck": (total_cck / 2, scale**2 + scale**4),
        "natural": (natural / 2, scale**2),
        "normal_error": (max(normals), scale),
        "friction_error": (max(frictions), scale),
        "friction_power": (power, max(1e-300, scale * np.abs(p).max() * len(mu))),
    }


def linear(W, u, mu, p):
    """Without friction: the pairs (p_n, u_n) of the LCP, not scaled; the normal error is in m/s."""
    x, y = p[:, 0], u[:, 0]
    rho = np.array([1 / np.linalg.norm(W[3 * c : 3 * c + 3, 3 * c : 3 * c + 3]) for c in range(len(mu))])
    scale = max(1e-300, np.abs(x).max(), np.abs(y).max())
    return {
        "total_error_fb": (0.5 * (fb(x, y) ** 2).sum(), scale**2),
        "total_error_cck": (0.5 * (cck(x, y) ** 2).sum(), scale**2 + scale**4),
        "natural": (0.5 * (np.minimum(x, y) ** 2).sum(), scale**2),
        "normal_error": (np.abs(np.minimum(x / rho, y)).max(), scale + np.abs(x / rho).max()),
        "friction_error": (0.0, 1.0),
        "friction_power": (0.0, 1.0),
    }


def run(command, folder, text, method, name, *more):
    path, formulation, solver = os.path.join(folder, name), *method.split(":")
    formulation, form = formulation.split("/") if "/" in formulation else (formulation, None)
    more = [*more, "--set", f"method.formulation.form={form}"] if form else more
    if formulation == "gauss":  # one QP: impacts are other problems, and the last step's state is no QP at all
        more = [*more, "--set", "method.formulation.impact=none", "--set", "method.formulation.direct=false", "--set", "method.formulation.touch=1e-3"]
    with open(os.path.join(folder, "scene.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    line = [command, "run", os.path.join(folder, "scene.yaml"), "--formulation", formulation, "--solver", solver, "--steps", "1", "--set", "method.on_failure=warn", "--bpmd", path, "--quiet", *more]
    result = subprocess.run(line, capture_output=True, text=True)
    if not os.path.exists(path):
        sys.exit(f"{method}: {result.stderr}")
    return h5py.File(path)


def check(command, folder, text, method, kind):
    """Iterations looked at, and the largest difference."""
    form, worst, key = method.split(":")[0], 0.0, re.sub("/[a-z]*", "", method).replace(":", "-")
    most = 10
    limit = [] if form == "gauss" else ["--set", f"method.solver.max_iter={most}"]  # a QP that is given up has no answer
    with run(command, folder, text, method, "all.h5", *limit) as file, run(command, folder, text, method, "paper.h5", *limit, "--bpmd-names", "paper") as paper:
        frame = file["mbs_frame000001"]
        stored = {k: np.array(v) for k, v in frame["solutions"][key].items()}
        W, q, mu = rows_of(frame, form)
        corners, answer = frame.attrs["friction_directions"], stored["impulses"]
        for ours, theirs in NAMES.items():
            if not np.array_equal(stored[ours], np.array(paper["mbs_frame000001/solutions"][theirs]), equal_nan=True):
                sys.exit(f"{method}: {theirs} in the names of the paper is another")
        if not np.array_equal(stored["stick"], np.array(paper["mbs_frame000001/solutions/stick"])):
            sys.exit(f"{method}: stick in the names of the paper is another")
    if form == "convex":
        W = W + np.diag(np.repeat(1e-6 * W.diagonal()[::3], 3))
    n, seen = len(mu), 0
    if stored["stick"].shape != (len(stored["iteration"]), n):
        sys.exit(f"{method}: stick is {stored['stick'].shape} for {n} contacts")
    for line, k in enumerate(stored["iteration"].astype(int)):
        last = line + 1 == len(stored["iteration"])
        if k < 1 or (not last and (form == "gauss" or method.split(":")[1] in WHOLE)):
            continue
        name, r = f"{k}.h5", answer
        if not last:
            with run(command, folder, text, method, name, "--set", f"method.solver.max_iter={k}", "--bpmd-iterations", "0") as file:
                r = np.array(file["mbs_frame000001/solutions"][key]["impulses"])
            os.remove(os.path.join(folder, name))
        u = (W @ r.ravel() + q).reshape(n, 3)
        want_all = polygon(W, u, mu, r, corners) if kind == "polygon" else linear(W, u, mu, r) if kind == "smooth" else measures(W, u, mu, r, form)
        for what, (want, size) in want_all.items():
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


def one_impulse(command, folder, text):
    """Iterates of a QP solver cannot be had by stopping it, but with one smooth contact an iterate is one number: is there one that gives all
    measures of the line, each to 1e-12? Lines looked at."""
    with run(command, folder, text, "gauss:qp-admm", "one.h5") as file:
        frame = file["mbs_frame000001"]
        stored = {k: np.array(v) for k, v in frame["solutions/gauss-qp-admm"].items()}
        W, q, mu = rows_of(frame, "gauss")
    for line, natural in enumerate(stored["natural"]):
        least, best = np.sqrt(2 * natural), np.inf
        for p in (least, -least, (least - q[0]) / W[0, 0], (-least - q[0]) / W[0, 0]):
            r, state = np.array([[p, 0, 0]]), -1 if not p > 0 else 0
            want = linear(W, (W @ r.ravel() + q).reshape(1, 3), mu, r)
            off = max(abs(stored[what][line] - value) / (abs(value) + size) for what, (value, size) in want.items())
            best = min(best, off if state == stored["stick"][line][0] else np.inf)
        if not best <= 1e-12:
            sys.exit(f"gauss:qp-admm: no impulse gives line {line}: off by {best:.1e}\n{text}")
    return len(stored["natural"])


def stored_lcp(command, folder, text):
    """The same step as the LCP of Stewart and Trinkle, made here from the numbers of the frame: every iterate of every solver of LCPs.
    Iterates looked at, methods, and the largest difference."""
    with run(command, folder, text, "st:auto", "all.h5") as file:
        frame = file["mbs_frame000001"]
        (W, q, mu), corners = rows_of(frame, "st"), int(frame.attrs["friction_directions"])
    n, turn = len(mu), 2 * np.pi * np.arange(corners) / corners
    P = np.zeros((3 * n, n * (1 + corners)))  # rows of contacts from p_n and beta
    E = np.kron(np.eye(n), np.ones((corners, 1)))
    for c in range(n):
        P[3 * c, c] = 1
        P[3 * c + 1 : 3 * c + 3, n + corners * c : n + corners * (c + 1)] = np.array([np.cos(turn), np.sin(turn)])
    A = np.zeros((n * (corners + 2), n * (corners + 2)))
    A[: n * (1 + corners), : n * (1 + corners)] = P.T @ W @ P
    A[n : n * (1 + corners), n * (1 + corners) :] = E
    A[n * (1 + corners) :, : n * (1 + corners)] = np.hstack([np.diag(mu), -E.T])
    b = np.append(P.T @ q, np.zeros(n))
    path, seen, worst, methods = os.path.join(folder, "lcp-step.dat"), 0, 0.0, set()
    with open(path, "w", encoding="utf-8") as out:
        print(f"{len(b)}\n0 {len(b)} {len(b)}\n{len(b)} {len(b)}", *(repr(float(x)) for x in A.T.ravel()), *(repr(float(x)) for x in b), sep="\n", file=out)
    line = [command, "compare", path, "--tol", "1e-9", "--time-limit", "1", "--traces", "1", "--iterations", os.path.join(folder, "it"), "--json", "--quiet"]
    result = subprocess.run(line, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{path}: {result.stderr}")
    for one in glob.glob(os.path.join(folder, "it", "*.h5")):
        with h5py.File(one) as file:
            stored = {k: np.array(file[k]) for k in ("z", "total_error_fb", "total_error_cck", "natural")}
            methods.add(file["meta"].attrs["solver"])
        for k, z in enumerate(stored["z"]):
            w = A @ z + b
            size = max(np.abs(z).max(), np.abs(b).max(), (np.abs(A) @ np.abs(z)).max())  # w is a difference of such numbers
            for what, want in (("total_error_fb", fb(z, w)), ("total_error_cck", cck(z, w)), ("natural", np.minimum(z, w))):
                want = 0.5 * (want**2).sum()
                off = abs(stored[what][k] - want) / (want + size**2 + (size**4 if what == "total_error_cck" else 0))
                worst = max(worst, off)
                if not off <= 1e-12:
                    sys.exit(f"{one}: {what} of iterate {k} is {stored[what][k]:.17g}, here {want:.17g}")
            seen += 1
    return seen, methods, worst


def main():
    command, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seen, worst, quadratic, pairs, linears = 0, 0.0, 0, 0, set()
    for k in range(count):
        for kind, methods in (("circle", METHODS), ("polygon", POLYGONS), ("smooth", SMOOTH)):
            text = scene(np.random.default_rng(1000 * seed + k), kind)
            for method in methods:
                with tempfile.TemporaryDirectory() as folder:
                    n, off = check(command, folder, text, method, kind)
                if n < 1:
                    sys.exit(f"{method}: no iteration is stored\n{text}")
                seen, worst = seen + n, max(worst, off)
        with tempfile.TemporaryDirectory() as folder:
            n, solvers, off = stored_lcp(command, folder, scene(np.random.default_rng(1000 * seed + k), "polygon"))
            pairs, worst, linears = pairs + n, max(worst, off), linears | solvers
            quadratic += one_impulse(command, folder, scene(np.random.default_rng(1000 * seed + k), "one"))
    print(f"{count} scenes, {len(METHODS + POLYGONS + SMOOTH)} methods: {seen} iterations in frames of `run --bpmd` differ by at most {worst:.1e} (with those of LCPs); {quadratic} of QPs each by one impulse; {pairs} of {len(linears)} solvers of LCPs")


main()

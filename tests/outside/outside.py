#!/usr/bin/env python3
"""BPMD files and error measures from outside: written, solved and judged with numpy and h5py alone (docs/bpmd.md, docs/notation.md).

    outside.py COMMAND [COUNT] [SEED]

COUNT random problems: balls that touch the ground and each other, some on ball joints. Each is written by hand in the layout of the
paper or of Gazebo's ODE, with a random choice of what writers do differently: order of pairs, order of arrays, names of groups, place of
`step`, order of bodies, sense of normals, of all or of one with the ground. The answer of `moreau compare` must obey Coulomb's law in the problem as it is known here (it is mostly the
one of the fixed point computed here; Coulomb's law can have several), and what deviates must be told with the path of its dataset. Then every iterate of every solver, for all formulations with circular cones, is
judged here again: Fischer-Burmeister, CCK and natural totals, normal and friction error, to 1e-12 of their size.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

UP = np.array([0.0, 0.0, 1.0])
CONES = ["ncp", "mncp", "implicit", "convex"]


def cross(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def tangents(n):
    """World x on the tangent plane, or the axis least along n."""
    t = np.array([1.0, 0, 0]) - n[0] * n
    if np.linalg.norm(t) < 1e-3:
        axis = np.eye(3)[np.argmin(abs(n))]
        t = axis - (axis @ n) * n
    t /= np.linalg.norm(t)
    return t, np.cross(n, t)


class Problem:
    """Balls on the ground: bodies, contacts (body 0 of each is never the ground), joints."""

    def __init__(self, random, least=2):
        count = random.integers(least, 6)
        self.h = 10 ** random.uniform(-3, -2)
        self.radius = random.uniform(0.2, 0.6, count)
        self.mass = 10 ** random.uniform(-0.5, 1, count)
        self.inertia = 0.4 * self.mass * self.radius**2
        self.q = random.normal(size=(count, 4))
        self.q /= np.linalg.norm(self.q, axis=1)[:, None]
        self.x = np.zeros((count, 3))
        self.contacts = []  # body, body or -1, point halfway, normal from the first to the second, gap
        gap = lambda: random.choice([0.0, random.uniform(0, 1e-4)])
        way, jointed = random.uniform(0, 2 * np.pi), count > 2 and random.random() < 0.5
        for i in range(count):
            below = gap()
            self.x[i, 2] = self.radius[i] + below
            if i:
                way += random.uniform(-0.8, 0.8)
                between, rise = gap(), self.x[i, 2] - self.x[i - 1, 2]
                reach = self.radius[i] + self.radius[i - 1] + between
                flat = np.sqrt(reach**2 - rise**2)
                self.x[i, :2] = self.x[i - 1, :2] + flat * np.array([np.cos(way), np.sin(way)])
                n = (self.x[i] - self.x[i - 1]) / reach
                if jointed or random.random() < 0.8:  # one island where there are joints
                    self.contacts.append((i - 1, i, self.x[i - 1] + (self.radius[i - 1] + between / 2) * n, n, between))
            self.contacts.append((i, -1, self.x[i] - (self.radius[i] + below / 2) * UP, -UP, below))
        self.mu = random.uniform(0.1, 0.8, len(self.contacts))
        self.v = np.hstack([random.normal(size=(count, 3)) * [0.4, 0.4, 0] - np.abs(random.normal(size=(count, 1))) * UP, random.normal(size=(count, 3))])
        self.force = np.hstack([-9.81 * self.mass[:, None] * UP, np.zeros((count, 3))])
        self.joints = []  # body, body, point
        if jointed:
            self.joints.append((0, 2, (self.x[0] + self.x[2]) / 2))

    def system(self):
        """Rows of contacts and joints, M inverse, the free velocity, the bias of the rows."""
        n, J, bias = len(self.mass), [], []
        W = np.diag(1 / np.repeat(np.column_stack([self.mass, self.inertia]), 3, axis=1).ravel())
        free = (self.v + self.h * self.force / np.repeat(np.column_stack([self.mass, self.inertia]), 3, axis=1)).ravel()
        for a, b, point, normal, gap in self.contacts:
            for k, d in enumerate([normal, *tangents(normal)]):
                row = np.zeros(6 * n)
                for body, sign in ((a, -1), (b, 1)):
                    if body >= 0:
                        row[6 * body : 6 * body + 6] = sign * np.concatenate([d, np.cross(point - self.x[body], d)])
                J.append(row)
                bias.append(gap / self.h if k == 0 else 0.0)
        for a, b, point in self.joints:
            rows = np.zeros((3, 6 * n))
            for body, sign in ((a, -1), (b, 1)):
                rows[:, 6 * body : 6 * body + 3] = sign * np.eye(3)
                rows[:, 6 * body + 3 : 6 * body + 6] = -sign * cross(point - self.x[body])
            J.extend(rows)
            bias.extend(np.zeros(3))
        return np.array(J), W, free, np.array(bias)

    def delassus(self):
        """W and q of the contacts, joints eliminated."""
        J, M, free, bias = self.system()
        W, q, c = J @ M @ J.T, J @ free + bias, 3 * len(self.contacts)
        if len(q) == c:
            return W, q
        inverse = np.linalg.inv(W[c:, c:])
        return W[:c, :c] - W[:c, c:] @ inverse @ W[c:, :c], q[:c] - W[:c, c:] @ inverse @ q[c:]


def project(r, mu):
    """On the cones |r_T| <= mu r_N."""
    n, t = r[:, 0], np.linalg.norm(r[:, 1:], axis=1)
    inside, polar = t <= mu * n, mu * t <= -n
    m = (n + mu * t) / (1 + mu**2)
    out = np.column_stack([m, (mu * m / np.maximum(t, 1e-300))[:, None] * r[:, 1:]])
    out[inside], out[polar] = r[inside], 0
    return out


def law(u, mu):
    return np.column_stack([u[:, 0] + mu * np.linalg.norm(u[:, 1:], axis=1), u[:, 1:]])


def solve(W, q, mu):
    """The fixed point of r = P_K(r - rho (u + mu |u_T| e_n)), contact after contact."""
    n = len(mu)
    r, blocks = np.zeros((n, 3)), [slice(3 * i, 3 * i + 3) for i in range(n)]
    rho = [1 / np.linalg.norm(W[b, b], 2) for b in blocks]
    for sweep in range(200000):
        moved = 0.0
        for i, b in enumerate(blocks):
            for _ in range(5):
                u = W[b] @ r.ravel() + q[b]
                new = project((r[i] - rho[i] * law(u[None], mu[i : i + 1])[0])[None], mu[i : i + 1])[0]
                moved = max(moved, np.abs(new - r[i]).max() / rho[i])
                r[i] = new
        if moved < 1e-14:
            break
    return r, moved


# ------------------------------------------------------------------------------------------ writing


def write(p, path, random, any_contact=False):
    """By hand; returns what must be told. any_contact: also normals are turned whose bodies have no other contact."""
    paper = random.random() < 0.5
    told, frame = set(), random.choice(["mbs_frame000001", "frame1"] if paper else ["mbs_frame000001"])
    names = ["unilateral constraints", "Unilateral_Constraints", "UnilateralConstraint", "contacts"] if paper else ["contacts", "Contacts"]
    joints = ["bilateral constraints", "Bilateral_Constraints", "constraints"] if paper else ["constraints"]
    group, joint_group = random.choice(names), random.choice(joints)
    inward, columns = random.random() < 0.3, random.random() < 0.5
    capitals = random.random() < 0.4
    group = group.upper() if capitals and random.random() < 0.5 else group
    order = random.permutation(len(p.mass))
    ids = random.permutation(np.arange(1, 50))[: len(p.mass)]
    with h5py.File(path, "w") as file:

        def put(name, array, type=float):
            array = np.asarray(array, dtype=type)
            if columns and array.ndim == 2 and min(array.shape) > 1:
                array = array.T
                if array.shape[0] != array.shape[1]:
                    told.add(name)
            file[name] = array

        spell = lambda n: n.capitalize() if capitals else n
        body = lambda n: f"{frame}/{spell('bodies')}/{spell(n)}"
        contact = lambda n: f"{frame}/{group}/{spell(n)}"
        place = f"{frame}/{'step' if paper else 'timestep'}"
        if random.random() < 0.5:
            file["step"] = p.h if random.random() < 0.5 else [p.h]
        else:
            file[place] = [p.h]
        put(body("positions"), p.x[order])
        put(body("quaternion" if paper else "quaternions"), p.q[order])
        put(body("velocities"), p.v[order])
        put(body("forces"), p.force[order])
        put(body("inertia" if paper else "world_inertia_tensors"), np.vstack([p.inertia[i] * np.eye(3) for i in order]))
        file[body("masses")] = p.mass[order]
        file[body("ids")] = ids[order].astype("i4")
        pairs, points, normals, meant, gaps, turned = [], [], [], [], [], []
        for a, b, point, normal, gap in p.contacts:
            turned.append(random.random() < 0.4)
            if turned[-1]:
                a, b, normal = b, a, -normal
            pairs.append([ids[a] if a >= 0 else -1, ids[b] if b >= 0 else -1])
            first = point - gap / 2 * normal - (p.x[a] if a >= 0 else 0)
            points.append(first if paper else point)
            normals.append(normal * (1 if paper else -1) * (-1 if inward else 1))
            meant.append(normal * (1 if paper else -1))
            gaps.append(gap)
        several = [i for i, c in enumerate(p.contacts) if any_contact or (c[1] < 0 and sum(c[0] in d[:2] for d in p.contacts) > 1)]
        if several and (any_contact or len(p.contacts) > 2) and random.random() < 0.3:  # a normal of the reversed pair, on the ground
            normals[random.choice(several)] *= -1
        put(contact("pairs"), pairs, "i4")
        put(contact("points"), points)
        put(contact("normals"), normals)
        file[contact("gap" if paper else "gaps")] = gaps
        put(contact("mu" if paper else "mu_s"), np.column_stack([p.mu, p.mu]))
        if not np.array_equal(normals, meant):
            told.add(contact("normals"))
        if p.joints:
            J, rows = p.system()[0][3 * len(p.contacts) :], []
            for k, (a, b, _) in enumerate(p.joints):
                rows.append(np.hstack([J[3 * k : 3 * k + 3, 6 * a : 6 * a + 6], J[3 * k : 3 * k + 3, 6 * b : 6 * b + 6]]))
            file[f"{frame}/{joint_group}/rows"] = np.full(len(p.joints), 3, dtype="i4")
            file[f"{frame}/{joint_group}/pairs"] = np.array([[ids[a], ids[b]] for a, b, _ in p.joints], dtype="i4")
            put(f"{frame}/{joint_group}/Jacobian", np.vstack(rows))
            file[f"{frame}/{joint_group}/violations"] = np.zeros(3 * len(p.joints))
            put(f"{frame}/{joint_group}/bounds", np.tile([-np.inf, np.inf], (3 * len(p.joints), 1)))
    return told, paper, np.array(turned), order


# ------------------------------------------------------------------------------------------ judging


def fb(a, b):
    return a + b - np.hypot(a, b)


def cck(a, b):
    return 0.7 * fb(a, b) + 0.3 * np.maximum(a, 0) * np.maximum(b, 0)


def measures(W, u, mu, r, form, missed=0.0):
    """Totals, normal and friction error of impulses r (contacts x 3) with velocities u, as docs/notation.md fixes them, and their sizes."""
    n = len(mu)
    rho = np.array([1 / np.linalg.norm(W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]) for i in range(n)])
    if form == "mncp":  # a problem with the velocities as unknowns: impulses are not scaled
        rho = np.ones(n)
    x, slip = r / rho[:, None], np.linalg.norm(u[:, 1:], axis=1)
    normal = u[:, 0] - (mu * slip if form == "convex" else 0)
    y = x if form == "ncp" else r  # the others hand over problems of their own forms, not steps
    slack = mu**2 * y[:, 0] ** 2 - (y[:, 1:] ** 2).sum(1)
    lines = (mu * y[:, 0])[:, None] * u[:, 1:] + slip[:, None] * y[:, 1:]
    total = lambda phi: 0.5 * ((phi(y[:, 0], normal) ** 2).sum() + (phi(slip, slack) ** 2).sum() + (lines**2).sum() + missed)
    aim, radius = x[:, 1:] - u[:, 1:], mu * np.maximum(x[:, 0], 0)
    size = np.linalg.norm(aim, axis=1)
    disc = aim * np.minimum(1, radius / np.maximum(size, 1e-300))[:, None]
    hat = law(u, mu) if form != "convex" else u
    step = rho[:, None] if form == "ncp" else 1.0
    natural = (r - project(r - step * hat, mu)) / step
    scale = max(1e-300, np.abs(x).max(), np.abs(y).max(), np.abs(u).max())
    return {
        "total_error_fb": (total(fb), scale**2 + scale**4),
        "total_error_cck": (total(cck), scale**2 + scale**8),
        "natural": (0.5 * (natural**2).sum(), scale**2),
        "normal_error": (np.abs(np.minimum(x[:, 0], normal)).max(), scale),
        "friction_error": (np.linalg.norm(x[:, 1:] - disc, axis=1).max(), scale),
        "friction_power": ((slip * np.linalg.norm(r[:, 1:], axis=1)).sum(), scale**2 * max(rho.max(), 1) * n),
    }


def check_iterates(folder, p, turned, order, seen, refused):
    """Every iterate in the files of --iterations. Returns how many, and the largest difference."""
    count, worst, n = 0, 0.0, len(p.mu)
    J, inverse, free, bias = p.system()
    W, q = p.delassus()
    relaxed = W + np.diag(np.repeat(1e-6 * W.diagonal()[::3], 3))
    for path in sorted(glob.glob(os.path.join(folder, "*.h5"))):
        with h5py.File(path) as file:
            form = file["meta"].attrs["formulation"].decode()
            z, place = np.array(file["z"]), np.array(file["contact"]).astype(int)
            stored = {k: np.array(file[k]) for k in ("total_error_fb", "total_error_cck", "natural", "normal_error", "friction_error", "friction_power")}
            if form == "mncp" and len(file["unknowns"]) > 1:
                continue  # impulses and velocities by islands
            method = (form, file["meta"].attrs["solver"].decode())
            if method in refused:
                continue  # it has no iterates
            seen.add(method)
        for k in range(len(z)):
            r, missed = np.empty((n, 3)), 0.0
            r[place] = z[k][: 3 * n].reshape(n, 3)
            r[turned, 1] *= -1  # the same tangent, the other body; o turns with the normal
            if form == "mncp":
                v = np.empty((len(order), 6))
                v[order] = z[k][3 * n :].reshape(-1, 6)
                mass = 1 / inverse.diagonal()
                missed = ((mass * (v.ravel() - free) - J.T @ r.ravel()) ** 2).sum()
                u = J @ v.ravel() + bias
            A = relaxed if form == "convex" else W
            if form != "mncp":
                u = A @ r.ravel() + q
            for name, (want, size) in measures(A, u.reshape(n, 3), p.mu, r, form, missed).items():
                off = abs(stored[name][k] - want) / (abs(want) + size)
                worst = max(worst, off)
                if not off <= 1e-12:
                    sys.exit(f"{path}: {name} of iterate {k} is {stored[name][k]:.17g}, here {want:.17g}")
            count += 1
    return count, worst


# ------------------------------------------------------------------------------------------ all of it


def main():
    command, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    iterates, worst_answer, worst_measure, jointed, papers, seen, same, answers = 0, 0.0, 0.0, 0, 0, set(), 0, 0
    for k in range(count):
        random = np.random.default_rng(1000 * seed + k)
        p = Problem(random)
        W, q = p.delassus()
        want, left = solve(W, q, p.mu)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "foreign.h5")
            told, paper, turned, order = write(p, path, random)
            line = [command, "compare", path, "--formulations", "ncp", "--solvers", "auto,nsgs", "--tol", "1e-11", "--traces", "1", "--iterations", os.path.join(folder, "it"), "--json"]
            run = subprocess.run(line, capture_output=True, text=True)
            if run.returncode:
                sys.exit(f"problem {k}: {run.stderr}")
            answer = json.loads(run.stdout)
            notes = str(answer.get("notes", "")) + run.stderr
            for name in told:
                if name not in notes and "/" + name not in notes:
                    sys.exit(f"problem {k}: {name} deviates and is not told: {notes}")
            for r in answer["runs"]:
                if r["status"] != "solved":
                    sys.exit(f"problem {k}: {r['solver']}: {r['status']}")
            for one in glob.glob(os.path.join(folder, "it", "*.h5")):
                with h5py.File(one) as file:
                    if np.array(file["iteration"])[-1] >= 2000:
                        continue  # followed no further
                    got, place = np.array(file["z"])[-1][: 3 * len(p.mu)].reshape(-1, 3), np.array(file["contact"]).astype(int)
                r = np.empty_like(want)
                r[place] = got
                r[turned, 1] *= -1
                hat = law((W @ r.ravel() + q).reshape(-1, 3), p.mu)
                rho = 1 / np.array([np.linalg.norm(W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]) for i in range(len(p.mu))])[:, None]
                missed = np.abs((r - project(r - rho * hat, p.mu)) / rho).max()
                worst_answer = max(worst_answer, missed)
                if not missed < 1e-9:
                    sys.exit(f"problem {k}: {one}: the answer misses Coulomb's law by {missed:.1e} m/s here")
                same += np.abs(r - want).max() < 1e-7 * np.abs(want).max() + 1e-12
                answers += 1
            jointed += bool(p.joints)
            papers += paper
            if p.joints:
                continue  # their unknowns have rows of joints between those of contacts
            run = subprocess.run([command, "compare", path, "--formulations", ",".join(CONES), "--tol", "1e-9", "--time-limit", "1", "--traces", "1", "--iterations", os.path.join(folder, "all"), "--json"], capture_output=True, text=True)
            if run.returncode:
                sys.exit(f"problem {k}: {run.stderr}")
            refused = {(r["formulation"], r["solver"]) for r in json.loads(run.stdout)["runs"] if r["status"] == "refused"}
            n, off = check_iterates(os.path.join(folder, "all"), p, turned, order, seen, refused)
            iterates, worst_measure = iterates + n, max(worst_measure, off)
    print(f"{count} problems ({papers} in the paper's layout, {jointed} with joints): answers miss the law by at most {worst_answer:.1e} m/s, {same} of {answers} are the one found here; {iterates} iterates of {len(seen)} methods: measures differ by at most {worst_measure:.1e}")


if __name__ == "__main__":
    main()

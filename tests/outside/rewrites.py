#!/usr/bin/env python3
"""Rewrites of one and the same step as BPMD files, in all the ways that writers differ (docs/bpmd.md, "Other spellings").

    rewrites.py COMMAND [COUNT] [SEED]

COUNT random problems of one to five balls, each written by hand with h5py: layout of the paper or of Gazebo, order of bodies and pairs,
arrays in either order (square ones too), normals all inward or some of them, capital letters, names of groups, `step` at the root, joints.
`moreau compare` must find an answer that obeys Coulomb's law in the problem as it is known here, and say every deviation with the path of
the dataset.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from outside import Problem, law, project, write


def missed(p, turned, path):
    """How far the stored answer misses Coulomb's law here [m/s]."""
    W, q = p.delassus()
    with h5py.File(path) as file:
        got, place = np.array(file["z"])[-1][: 3 * len(p.mu)].reshape(-1, 3), np.array(file["contact"]).astype(int)
    r = np.empty((len(p.mu), 3))
    r[place] = got
    r[turned, 1] *= -1
    hat = law((W @ r.ravel() + q).reshape(-1, 3), p.mu)
    rho = 1 / np.array([np.linalg.norm(W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]) for i in range(len(p.mu))])[:, None]
    return np.abs((r - project(r - rho * hat, p.mu)) / rho).max()


def main():
    command, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    right, wrong = 0, []
    for k in range(count):
        random = np.random.default_rng(100000 * seed + k)
        p = Problem(random, least=1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "foreign.h5")
            say, _, turned, _ = write(p, path, random, any_contact=True)
            line = [command, "compare", path, "--formulations", "ncp", "--solvers", "auto", "--tol", "1e-11", "--traces", "1", "--iterations", os.path.join(folder, "it"), "--json"]
            run = subprocess.run(line, capture_output=True, text=True)
            notes = run.stderr + (str(json.loads(run.stdout).get("notes", "")) if run.returncode == 0 else "")
            silent = [name for name in say if name not in notes]
            files = glob.glob(os.path.join(folder, "it", "*.h5"))
            off = missed(p, turned, files[0]) if files else np.inf
            if off < 1e-9 and not silent:
                right += 1
            else:
                wrong.append(k)
                print(f"rewrite {k}: off by {off:.1e} m/s, not told: {silent}; notes: {notes.strip()[:600]}; {len(p.mass)} balls, {len(p.mu)} contacts, {len(p.joints)} joints")
    print(f"{count} rewrites: {right} read right, {len(wrong)} wrong {wrong}")
    sys.exit(bool(wrong))


main()

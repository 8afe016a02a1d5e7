# %% [markdown]
# # 2. LCP, Lemke, PGS by hand
#
# Many contacts at once give an LCP with many rows: find $z$ with
#
# $$w = A z + b, \qquad 0 \le z \perp w \ge 0.$$
#
# You solve one by trying all active sets, by projected Gauss-Seidel (PGS), and by Lemke's pivots, and see what each is
# good for.

# %%
import itertools

import numpy as np
import matplotlib.pyplot as plt
import moreau

rng = np.random.default_rng(4)
n = 8
B = rng.standard_normal((n, n))
A = B @ B.T + 0.5 * np.eye(n)
b = rng.standard_normal(n)

# %% [markdown]
# ## All active sets
#
# In every row either $z_i = 0$ or $w_i = 0$. With $n$ rows there are $2^n$ ways; each is a linear system.


# %%
def enumerate_sets(A, b):
    for on in itertools.chain.from_iterable(itertools.combinations(range(len(b)), k) for k in range(len(b) + 1)):
        z = np.zeros(len(b))
        on = list(on)
        if on:
            z[on] = np.linalg.solve(A[np.ix_(on, on)], -b[on])
        if z.min() >= -1e-12 and (A @ z + b).min() >= -1e-12:
            return z


exact = enumerate_sets(A, b)
print("z =", np.round(exact, 3))

# %% [markdown]
# ## Projected Gauss-Seidel
#
# Row after row: the $z_i$ that makes $w_i = 0$, cut off at zero. Cheap, and each sweep makes the error smaller by a factor.


# %%
def pgs(A, b, sweeps):
    z = np.zeros(len(b))
    errors = []
    for _ in range(sweeps):
        for i in range(len(b)):
            z[i] = max(0.0, z[i] - (A[i] @ z + b[i]) / A[i, i])
        errors.append(np.linalg.norm(np.minimum(z, A @ z + b)))
    return z, errors


z, errors = pgs(A, b, 60)
assert np.allclose(z, exact, atol=1e-3)

# %% [markdown]
# ## Solvers of Moreau
#
# The same problem as data. The judge measures every answer in the same way.

# %%
problem = moreau.Problem("lcp", A=A, b=b)
for name in ("lemke", "pgs", "fischer-newton", "dantzig"):
    s = moreau.solve(problem, name, tol=1e-10)
    print("%-15s %-14s %4d iterations, error %.1e" % (name, s.status, s.iterations, s.error))
    assert np.allclose(s.z, exact, atol=1e-6)

# %%
trace = {name: moreau.solve(problem, name, tol=1e-12, trace=True).trace for name in ("pgs", "fischer-newton")}
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.semilogy(range(1, 61), errors, "k--", label="PGS by hand")
for name, lines in trace.items():
    ax.semilogy([x["iteration"] for x in lines], [max(1e-17, (2 * x["residual"]["natural"]) ** 0.5) for x in lines],
                label=name)
ax.set_xlabel("iteration")
ax.set_ylabel("|min(z, w)|")
ax.legend()

# %% [markdown]
# PGS is a straight line in this picture: linear convergence. Newton's method bends down: quadratic.
#
# ## Exercises
#
# 1. What does PGS do when a diagonal entry of A is zero? (The rows of the friction pyramid are of this kind.)
# 2. How does the number of pivots of Lemke grow with n? Try n = 10, 20, 40.
# 3. Make A singular (`B` with fewer columns than rows). Which solvers still answer?
#
# ## Solutions

# %%
print("1. it divides by zero: PGS in this form is not for the pyramid; see lesson 3")
for size in (10, 20, 40):
    C = rng.standard_normal((size, size))
    p = moreau.Problem("lcp", A=C @ C.T + np.eye(size), b=rng.standard_normal(size))
    print("2. n = %2d: %d pivots" % (size, moreau.solve(p, "lemke").iterations))
C = rng.standard_normal((8, 4))
p = moreau.Problem("lcp", A=C @ C.T, b=C @ rng.standard_normal(4))
for name in ("lemke", "pgs", "fischer-newton"):
    print("3. %-15s %s" % (name, moreau.solve(p, name, tol=1e-8).status))

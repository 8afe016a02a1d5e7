# %% [markdown]
# # 4. Write your own solver and compare it
#
# A solver gets a problem and gives an answer; whether it is right is said by a judge that no solver owns. Here you write one
# for contact problems with friction, register it, and run it against the built-in ones on the same problems.

# %%
import numpy as np
import matplotlib.pyplot as plt
import moreau

# %% [markdown]
# ## The idea: projected fixed point
#
# De Saxcé wrote Coulomb's law as a projection on the cone $K$: with $\hat u = u + (\mu |u_t|, 0, 0)$,
#
# $$r = P_K(r - \rho \hat u).$$
#
# Repeat this with $u = W r + q$ until the judge is content.


# %%
def project(r, mu):
    """Projection of rows (n, t, o) on the cone |t| <= mu n."""
    t = np.hypot(r[:, 1], r[:, 2])
    outside = t > mu * r[:, 0]
    polar = mu * t <= -r[:, 0]
    n = np.where(outside, (r[:, 0] + mu * t) / (1 + mu ** 2), r[:, 0])
    scale = np.where(outside, mu * n / np.where(t > 0, t, 1), 1.0)
    out = np.column_stack([n, scale * r[:, 1], scale * r[:, 2]])
    out[polar] = 0
    return out


@moreau.solver(accepts="fc3d", options={"relaxation": (1.0, 0.01, 2.0, "factor on rho")})
def my_fixed_point(problem, z, tol, max_iter, relaxation):
    """Projected fixed point with one rho for all contacts"""
    W = problem.A.toarray() if hasattr(problem.A, "toarray") else problem.A
    rho = relaxation / np.linalg.norm(W, 2)
    r = z.reshape(-1, 3)
    for k in range(max_iter):
        u = (W @ r.ravel() + problem.b).reshape(-1, 3)
        u[:, 0] += problem.mu * np.hypot(u[:, 1], u[:, 2])
        r = project(r - rho * u, problem.mu)
        if k % 10 == 9 and problem.error(r.ravel()) <= tol:
            return r.ravel(), k + 1
    return r.ravel(), max_iter, "not_converged"


# %% [markdown]
# ## A fair comparison
#
# The problems of ten steps of a small stack; every solver starts from zero, with the same tolerance and time limit.

# %%
table = moreau.compare("stack", ["my_fixed_point", "nsgs", "nsn", "admm"], steps=10, tol=1e-6, time_limit=2)
for name, row in table.summary().items():
    print("%-15s solved %2d of %2d, median %.2g s" % (name, row["solved"], row["of"], row["median_s"]))
assert table.summary()["nsn"]["solved"] == table.summary()["nsn"]["of"]

# %%
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for name in ("my_fixed_point", "nsgs", "nsn"):
    times = sorted(r["time_s"] for r in table if r["solver"] == name and r["status"] == "solved")
    total = sum(r["solver"] == name for r in table)
    ax.step(times, np.arange(1, len(times) + 1) / total, where="post", label=name)
ax.set_xscale("log")
ax.set_xlabel("time of the solver [s]")
ax.set_ylabel("share solved")
ax.legend(loc="center")

# %% [markdown]
# ## Your solver in a simulation

# %%
world = moreau.World("stack", solver="my_fixed_point", set={"method.solver.tol": 1e-6,
                                                            "method.on_failure": "warn"})
world.step(20)
print("after 20 steps: %s, penetration %.1e m" % (world.report["status"], world.penetration))

# %% [markdown]
# ## Exercises
#
# 1. Use a rho of its own for every contact, $1/|W_{cc}|$. Does it converge faster?
# 2. Sweep through the contacts one after the other and use new values at once (Gauss-Seidel). How many sweeps?
# 3. What does the judge say if your solver returns "solved" with a wrong answer?
#
# ## Solutions


# %%
@moreau.solver(accepts="fc3d")
def my_sweeps(problem, z, tol, max_iter):
    """Gauss-Seidel over contacts with the local fixed point"""
    W = problem.A.toarray() if hasattr(problem.A, "toarray") else problem.A
    r = z.copy()
    rows = [slice(3 * c, 3 * c + 3) for c in range(problem.contact_count)]
    rho = [1 / np.linalg.norm(W[s, s], 2) for s in rows]
    for k in range(min(max_iter, 3000)):
        for c, s in enumerate(rows):
            u = W[s] @ r + problem.b[s]
            u[0] += problem.mu[c] * np.hypot(u[1], u[2])
            r[s] = project((r[s] - rho[c] * u)[None], problem.mu[c:c + 1])[0]
        if k % 10 == 9 and problem.error(r) <= tol:
            return r, k + 1
    return r, k + 1, "not_converged"


problems = []
w = moreau.World("stack")
for _ in range(5):
    w.step()
    problems += w.problems()
for p in problems[-2:]:
    for name in ("my_fixed_point", "my_sweeps"):
        s = moreau.solve(p, name, tol=1e-6, time_limit=2)
        print("1, 2. %-15s %-14s %5d iterations" % (name, s.status, s.iterations))


@moreau.solver(accepts="fc3d")
def my_liar(problem, z, tol, max_iter):
    return z + 1, 1, "solved"


print("3.", moreau.solve(problems[-1], "my_liar").status)
assert moreau.solve(problems[-1], "my_liar").status != "solved"

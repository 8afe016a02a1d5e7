# %% [markdown]
# # 8. A fair benchmark
#
# "Solver A takes 3 ms, solver B 5 ms" says nothing if A stops early. A fair comparison holds equal what is not compared: the
# same problems, the same start, the same measure of error, the same tolerance, a time limit, and solvers that take turns on
# the machine. Then it shows how many problems each solves within a factor of the best: a performance profile (Dolan and Moré
# 2002).

# %%
import numpy as np
import matplotlib.pyplot as plt
import moreau

names = ["nsgs", "nsn", "admm", "ppa", "auto"]
problems = []
for scene in ("stack", "spheres_8"):
    world = moreau.World(scene)
    for _ in range(8):
        world.step()
        problems += [p for p in world.problems() if p.unknowns]
print(len(problems), "problems with", sorted({p.unknowns for p in problems}), "unknowns")

# %% [markdown]
# ## Time to a given accuracy, not time

# %%
tables = {tol: moreau.compare(problems, names, tol=tol, time_limit=0.5, repeat=3) for tol in (1e-4, 1e-8)}
for tol, table in tables.items():
    print("tolerance %g" % tol)
    for name, row in table.summary().items():
        print("  %-6s solved %2d of %2d, median %.2g s" % (name, row["solved"], row["of"], row["median_s"]))

# %% [markdown]
# ## Performance profiles
#
# For every problem the ratio of a solver's time to the best time; a failure is infinite. The curve of a solver at $\tau$ is the
# share of problems with a ratio of at most $\tau$: at 1 how often it is the fastest, far to the right how many it solves.


# %%
def profile(table):
    times = {}
    for r in table:
        times.setdefault(r["problem"], {})[r["solver"]] = r["time_s"] if r["status"] == "solved" else np.inf
    best = {p: min(t.values()) for p, t in times.items()}
    return {s: np.sort([t[s] / best[p] if np.isfinite(t[s]) else np.inf for p, t in times.items()]) for s in names}


figure, axes = plt.subplots(1, 2, sharey=True, figsize=(8, 3), layout="constrained")
for ax, (tol, table) in zip(axes, tables.items()):
    for name, ratios in profile(table).items():
        finite = ratios[np.isfinite(ratios)]
        ax.step(np.append(finite, 1e3), np.append(np.arange(1, len(finite) + 1), len(finite)) / len(ratios), where="post",
                label=name)
    ax.set_xscale("log")
    ax.set_title("tolerance %g" % tol)
    ax.set_xlabel("time / best time")
axes[0].set_ylabel("share of problems")
axes[0].legend()
assert all(s["solved"] > 0 for s in tables[1e-4].summary().values())

# %% [markdown]
# ## Exercises
#
# 1. Give every solver only its default number of iterations and compare the errors instead. Which would look best in a table of
#    times alone?
# 2. Start the solvers from the impulses of the last step (`z0=`). Who profits?
# 3. Run the command: `moreau compare stack --out page.html`, and read docs/fairness.md.
#
# ## Solutions

# %%
p = problems[-1]
for name in names:
    a = moreau.solve(p, name, tol=1e-14, max_iter=20)
    print("1. %-6s error %.1e after %.2g s" % (name, a.error, a.time))
for name in ("nsgs", "admm"):
    cold, warm = moreau.solve(p, name), moreau.solve(p, name, z0=p.impulses)
    print("2. %-6s %5d iterations cold, %5d warm" % (name, cold.iterations, warm.iterations))

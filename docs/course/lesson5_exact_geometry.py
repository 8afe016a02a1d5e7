# %% [markdown]
# # 5. Exact geometry: a peg and a hole
#
# A box of 0.99999 m falls between four cubes of 1 m: 5 micrometres of room on each side. Methods that see contacts before they
# close put planes where there is only an edge, and the peg stops in the air. The formulation `peg` treats every pair as a
# choice: one of several planes separates the bodies, and which one is part of the problem.

# %%
import numpy as np
import matplotlib.pyplot as plt
import moreau


def drop(formulation, size=0.99999, collision="features", steps=60):
    cubes = [{"name": "c%d" % k, "shape": {"box": [1, 1, 1]}, "fixed": True, "position": p}
             for k, p in enumerate([[-1, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0]])]
    peg = {"name": "peg", "shape": {"box": [size] * 3}, "mass": 1, "position": [0, 0, 1.5]}
    w = moreau.World({"time": {"step": 0.01}, "method": {"formulation": formulation, "collision": collision},
                      "bodies": cubes + [peg]})
    z = []
    for _ in range(steps):
        try:
            w.step()
        except moreau.NotSolved:
            break
        z.append(w.body("peg").position[2])
    return np.array(z)


# %%
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for formulation in ("peg", "st"):
    z = drop(formulation)
    ax.plot(0.01 * np.arange(1, len(z) + 1), z, label=formulation)
free = 1.5 - 9.81 * 0.01 ** 2 * np.arange(1, 61) * np.arange(2, 62) / 2
ax.plot(0.01 * np.arange(1, 61), free, "k--", label="free fall")
ax.set_xlabel("time [s]")
ax.set_ylabel("height of the peg [m]")
ax.legend()
assert np.abs(drop("peg") - free).max() < 1e-9

# %% [markdown]
# With `peg` the peg falls through as if nothing were there: that is the right answer, for it never touches. With `st` on the
# same contacts by vertex it stops on planes that are not there. A peg that is too large must rest on the four cubes.

# %%
for size in (0.99, 0.99999, 1.02):
    z = drop("peg", size)
    print("size %g m: after 0.6 s at z = %.6f m" % (size, z[-1]))
assert abs(drop("peg", 1.02)[-1] - 1.01) < 1e-4

# %% [markdown]
# ## Exercises
#
# 1. Why does a peg of 1.02 m rest at z = 1.01 m?
# 2. Try `st` and `ncp` with the collision method `manifold`, which drops contacts that no face realises. Do they let the peg
#    through?
# 3. Shift the peg by 0.1 m in x. What should happen, and what does?
#
# ## Solutions

# %%
print("1. the cubes end at z = 0.5 m, and half of the peg is 0.51 m")
for formulation in ("st", "ncp"):
    z = drop(formulation, collision="manifold")
    print("2. %s with manifold: z = %.4f m (free fall: %.4f m)" % (formulation, z[-1], free[len(z) - 1]))
w = moreau.World({"method": {"formulation": "peg", "collision": "features"}, "bodies":
                  [{"name": "c%d" % k, "shape": {"box": [1, 1, 1]}, "fixed": True, "position": p}
                   for k, p in enumerate([[-1, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0]])]
                  + [{"name": "peg", "shape": {"box": [0.99] * 3}, "mass": 1, "position": [0.1, 0, 1.2]}]})
try:
    w.step(60)
except moreau.NotSolved as error:
    print("3.", error)
print("3. it lands on one cube and tips: u =", np.round(w.body("peg").position, 3))

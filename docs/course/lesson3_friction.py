# %% [markdown]
# # 3. Friction: cone and pyramid
#
# Coulomb's law for one contact with normal impulse $p_n$ and friction impulse $p_t$ (two components):
#
# $$|p_t| \le \mu p_n, \qquad \text{and if it slides, } p_t \text{ is } \mu p_n \text{ against the slip.}$$
#
# The set $|p_t| \le \mu p_n$ is a cone. Stewart and Trinkle replace it by a pyramid with $n_d$ sides, which makes the problem
# an LCP. What does that cost?

# %%
import numpy as np
import matplotlib.pyplot as plt
import moreau

# %% [markdown]
# ## One contact in closed form
#
# Let a particle of unit mass arrive with velocity $(-1, c, s)$, normal first. With the matrix $W = I$ the answer is
# $p_n = 1$; it sticks if the tangential speed is at most $\mu$, otherwise $p_t$ has the length $\mu$.

# %%
mu = 0.5
directions = np.linspace(0, 2 * np.pi, 73)


def after(angle, sides):
    q = np.array([-1.0, np.cos(angle), np.sin(angle)])
    if sides == 0:
        return q + moreau.solve(moreau.Problem("fc3d", W=np.eye(3), q=q, mu=[mu]), "nsgs", tol=1e-12).z
    corners = 2 * np.pi * np.arange(sides) / sides
    D = np.stack([np.cos(corners), np.sin(corners)])  # the pyramid by hand: unknowns p_n, beta_j, lambda
    H = np.zeros((3, sides + 1))
    H[0, 0] = 1
    H[1:, 1:] = D
    A = np.zeros((sides + 2, sides + 2))
    A[:-1, :-1] = H.T @ H
    A[1:-1, -1] = 1
    A[-1, 0], A[-1, 1:-1] = mu, -1
    z = moreau.solve(moreau.Problem("lcp", A=A, b=np.append(H.T @ q, 0)), "lemke", tol=1e-10).z
    return q + H @ z[:-1]


figure, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
for sides in (0, 4, 8):
    u = np.array([after(a, sides) for a in directions])
    ax.plot(u[:, 1], u[:, 2], label="cone" if sides == 0 else "%d sides" % sides)
ax.set_aspect("equal")
ax.set_xlabel("u_t [m/s]")
ax.set_ylabel("u_o [m/s]")
ax.legend()
cone = np.array([after(a, 0) for a in directions])
assert np.allclose(np.hypot(cone[:, 1], cone[:, 2]), 1 - mu, atol=1e-8)

# %% [markdown]
# With the cone the particle keeps its direction. With the pyramid it is turned towards the corners, and the friction is too
# small between them: anisotropy.
#
# ## A block on a slope
#
# Sliding down, $a = g (\sin\alpha - \mu \cos\alpha)$. We tilt gravity instead of the floor, in a direction between two corners
# of the pyramid.

# %%
def slide(formulation, sides=8, angle=np.pi / 8, alpha=0.6, mu=0.3, T=0.5):
    g = 9.81
    gravity = [g * np.sin(alpha) * np.cos(angle), g * np.sin(alpha) * np.sin(angle), -g * np.cos(alpha)]
    scene = moreau.Scene(step=0.005, gravity=gravity).material("default", friction=mu)
    scene.body("floor", shape="plane", fixed=True)
    scene.body("block", shape={"box": [0.4, 0.4, 0.05]}, mass=1, position=[0, 0, 0.025])
    scene.method(formulation=formulation, friction_directions=sides)
    w = moreau.World(scene)
    w.advance(T)
    return w.body("block").velocity


exact = 9.81 * (np.sin(0.6) - 0.3 * np.cos(0.6)) * 0.5
for formulation, sides in (("ncp", 8), ("st", 4), ("st", 8), ("st", 32)):
    v = slide(formulation, sides)
    print("%-4s %2d sides: speed %.4f m/s (exact %.4f), direction off by %.2f degrees" %
          (formulation, sides, np.linalg.norm(v), exact, np.degrees(np.arctan2(v[1], v[0])) - 22.5))
assert abs(np.linalg.norm(slide("ncp")) - exact) < 1e-3

# %% [markdown]
# ## Exercises
#
# 1. For which direction of the slope is the pyramid with four sides exact? Check it.
# 2. How does the error of the speed fall with the number of sides?
# 3. Turn the first direction into the slip: `friction_align="slip"`. What changes?
#
# ## Solutions

# %%
print("1. along a corner: %.4f m/s" % np.linalg.norm(slide("st", 4, angle=0.0)))
for sides in (4, 8, 16, 32):
    v = slide("st", sides, angle=np.pi / sides)
    print("2. %2d sides: error %.5f m/s" % (sides, np.linalg.norm(v) - exact))
w = moreau.World({"gravity": [3, 2, -9], "method": {"formulation": "st", "friction_directions": 4, "friction_align": "slip"},
                  "materials": {"default": {"friction": 0.3}},
                  "bodies": [{"name": "floor", "shape": "plane", "fixed": True},
                             {"name": "block", "shape": {"box": [0.4, 0.4, 0.05]}, "mass": 1, "position": [0, 0, 0.025]}]})
w.step(50)
v = w.body("block").velocity
print("3. direction off by %.3f degrees" % np.degrees(np.arctan2(v[1], v[0]) - np.arctan2(2, 3)))

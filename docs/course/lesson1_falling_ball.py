# %% [markdown]
# # 1. The complementarity of a falling ball
#
# A ball falls on a floor. While it is above the floor no force acts between them; when they touch, the floor pushes and
# never pulls. With the gap $\psi$ and the normal impulse $p$ of a time step this is
#
# $$0 \le \psi \;\perp\; p \ge 0,$$
#
# read: both are not negative, and one of them is zero. In this lesson you solve it by hand, step by step, and compare with
# Moreau.

# %%
import numpy as np
import matplotlib.pyplot as plt
import moreau

# %% [markdown]
# ## One step by hand
#
# Mass $m$, step $h$, height of the lowest point $\psi$, velocity $v$. The semi-implicit step is
#
# $$m v^+ = m v - m g h + p, \qquad \psi^+ = \psi + h v^+, \qquad 0 \le \psi^+ \perp p \ge 0.$$
#
# Put the first into the second: $\psi^+/h = p/m + (\psi/h + v - g h)$. This is a linear complementarity problem (LCP)
# $w = A z + b$ with one row, $A = 1/m$, $b = \psi/h + v - g h$. Its answer is $p = \max(0, -m b)$.

# %%
m, g, h, radius = 1.0, 9.81, 0.01, 0.1


def step(psi, v):
    b = psi / h + v - g * h
    p = max(0.0, -m * b)
    v = v - g * h + p / m
    return psi + h * v, v, p


psi, v = 0.9, 0.0
by_hand = []
for k in range(100):
    psi, v, p = step(psi, v)
    by_hand.append((psi, v, p))
by_hand = np.array(by_hand)

# %% [markdown]
# ## The same with Moreau

# %%
scene = moreau.Scene(step=h).body("floor", shape="plane", fixed=True)
scene.body("ball", shape={"sphere": radius}, mass=m, position=[0, 0, 0.9 + radius])
world = moreau.World(scene)
heights = []
for k in range(100):
    world.step()
    heights.append(world.body("ball").position[2] - radius)
difference = np.abs(np.array(heights) - by_hand[:, 0]).max()
print("largest difference of the heights: %.1e m" % difference)
assert difference < 1e-9

# %%
figure, axes = plt.subplots(2, 1, sharex=True, figsize=(6, 4), layout="constrained")
time = h * np.arange(1, 101)
axes[0].plot(time, heights, label="Moreau")
axes[0].plot(time, by_hand[:, 0], "--", label="by hand")
axes[0].set_ylabel("gap [m]")
axes[0].legend()
axes[1].step(time, by_hand[:, 2])
axes[1].set_ylabel("impulse [N s]")
axes[1].set_xlabel("time [s]")

# %% [markdown]
# The picture shows the complementarity: where the gap is positive the impulse is zero, and the other way round. The large
# impulse is the impact; afterwards it is $m g h$ in every step, the weight.
#
# ## Exercises
#
# 1. How large is the impulse of the impact? Compare it with $m$ times the speed before it.
# 2. Halve the step. What happens to the impulse of the impact, and to the one of resting?
# 3. Add restitution: replace $\psi/h$ by $e v$ in a step in which the ball arrives. Compare with `material(restitution=e)`.
#
# ## Solutions

# %%
impact = by_hand[:, 2].max()
k = int(by_hand[:, 2].argmax())
print("1. impulse %.4f N s, m times the speed before: %.4f N s" % (impact, -m * by_hand[k - 1, 1]))
# the difference is what gravity adds in the step and what the remaining gap takes away
for step_size in (0.01, 0.005):
    w = moreau.World(scene, step=step_size)
    impulses = []
    for _ in range(int(1 / step_size)):
        w.step()
        impulses.append(w.contacts["impulse"][:, 2].sum())
    print("2. h = %g s: impact %.4f N s, rest %.5f N s (m g h = %.5f)" % (step_size, max(impulses), impulses[-1],
                                                                        m * g * step_size))
bouncing = moreau.World(moreau.Scene(step=0.001).material("rubber", restitution=0.8)
                        .body("floor", shape="plane", fixed=True, material="rubber")
                        .body("ball", shape={"sphere": radius}, mass=m, position=[0, 0, 1.0], material="rubber"))
top, falling = 0.0, True
for _ in range(1500):
    bouncing.step()
    falling = falling and bouncing.v[2] < 0
    top = top if falling else max(top, bouncing.q[2] - radius)
print("3. it comes back to %.3f m; e^2 times 0.9 m is %.3f m" % (top, 0.64 * 0.9))
assert abs(top - 0.64 * 0.9) < 0.02

# %% [markdown]
# # 6. Joints and constraint drift
#
# A joint is an equation $\phi(q) = 0$ between two bodies. A time step works with velocities: $\dot\phi = G^T \nu = 0$. What is
# lost in rounding and in the step's own error stays: the joint drifts apart. Four answers: nothing, Baumgarte's term,
# projection after the step, and impulses until the joint holds at the end of the step (Bender and Schmitt).

# %%
import numpy as np
import matplotlib.pyplot as plt
import moreau


def pendulum(stabilisation, h=0.005, T=5.0, coordinates="maximal"):
    scene = moreau.Scene(step=h).body("rod", shape={"box": [0.5, 0.02, 0.02]}, mass=1, position=[0.25, 0, 0])
    scene.joint("pivot", type="revolute", bodies=["world", "rod"], point=[0, 0, 0], axis=[0, 1, 0])
    scene.method(stabilisation=stabilisation, coordinates=coordinates)
    w = moreau.World(scene)
    error, energy = [], []
    for _ in range(int(T / h)):
        w.step()
        error.append(w.joint_error)
        energy.append(w.energy.total)
    return np.array(error), np.array(energy)


# %%
figure, axes = plt.subplots(2, 1, sharex=True, figsize=(6, 4.5), layout="constrained")
for name in ("none", "baumgarte", "projection", "impulse"):
    error, energy = pendulum(name)
    time = 0.005 * np.arange(1, len(error) + 1)
    axes[0].semilogy(time, np.maximum(error, 1e-17), label=name)
    axes[1].plot(time, energy, label=name)
    print("%-10s largest joint error %.1e m, energy %.4f -> %.4f J" % (name, error.max(), energy[0], energy[-1]))
axes[0].set_ylabel("joint error [m]")
axes[1].set_ylabel("energy [J]")
axes[1].set_xlabel("time [s]")
axes[0].legend(ncol=4, loc="upper center", bbox_to_anchor=(0.5, 1.3))
assert pendulum("impulse")[0].max() < 2e-5

# %% [markdown]
# ## Minimal coordinates
#
# The other way out: describe the rod by its angle. There is no equation left that could be violated.

# %%
error, energy = pendulum("impulse", coordinates="minimal")
print("minimal coordinates: joint error %.1e m, energy varies by %.1e J" % (error.max(), np.ptp(energy)))

# %% [markdown]
# ## Exercises
#
# 1. How does the drift without stabilisation depend on the step?
# 2. Compare the period of the pendulum with $2\pi\sqrt{2l/(3g)}$ for small swings.
# 3. What happens with two joints that say the same (a second pivot on the same axis)? Look at `run()["joints"]`.
#
# ## Solutions

# %%
for h in (0.01, 0.005, 0.0025):
    print("1. h = %g s: drift after 2 s %.2e m" % (h, pendulum("none", h, 2.0)[0][-1]))
scene = moreau.Scene(step=0.001).body("rod", shape={"box": [0.02, 0.02, 0.5]}, mass=1, position=[0, 0, -0.25],
                                      angular_velocity=[0, 0.05, 0], velocity=[-0.0125, 0, 0])
scene.joint("pivot", type="revolute", bodies=["world", "rod"], point=[0, 0, 0], axis=[0, 1, 0])
w = moreau.World(scene)
angles = []
for _ in range(4000):
    w.step()
    angles.append(w.joints["pivot"])
signs = np.nonzero(np.diff(np.sign(angles)))[0]
period = 2 * np.mean(np.diff(signs)) * 0.001
print("2. period %.4f s, formula %.4f s" % (period, 2 * np.pi * np.sqrt(2 * 0.5 / (3 * 9.81))))
assert abs(period - 2 * np.pi * np.sqrt(2 * 0.5 / (3 * 9.81))) < 0.01
scene.joint("again", type="revolute", bodies=["world", "rod"], point=[0, 0.1, 0], axis=[0, 1, 0])
print("3.", moreau.run(scene, 10).get("joints"))

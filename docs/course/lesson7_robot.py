# %% [markdown]
# # 7. A robot and its controller
#
# A robot in minimal coordinates obeys $M(q)\dot\nu + h(q,\nu) = \tau + J^T f$. Here you look at $M$, $h$ and $J$, hold an arm
# against gravity, and let it follow a path, first with PD control, then with computed torques.

# %%
import os

import numpy as np
import matplotlib.pyplot as plt
import moreau

urdf = os.path.join(os.path.dirname(moreau.__file__), "scenes", "robots", "arm2.urdf")
robot = moreau.Robot(urdf, floating=False)
print(robot.n, "joints:", [j.name for j in robot.joints], "mass %.2f kg" % robot.mass)
s = np.array([0.5, 0.3])
print("M =", np.round(robot.mass_matrix(s), 4).tolist())
print("g =", np.round(robot.gravity(s), 4))

# %% [markdown]
# The equation of motion, checked at a hundred random states at once: forward and inverse dynamics are inverse to each other.

# %%
rng = np.random.default_rng(1)
states, speeds, forces = (rng.standard_normal((100, 2)) for _ in range(3))
accelerations = robot.forward_dynamics(states, speeds, forces)
back = robot.inverse_dynamics(states, speeds, accelerations)
print("largest difference: %.1e N m" % np.abs(back - forces).max())
assert np.allclose(back, forces, atol=1e-9)

# %% [markdown]
# ## Following a path


# %%
def path(t):
    """Position, velocity and acceleration of the joints."""
    return (np.array([0.6 * np.sin(2 * t), 0.4 * np.cos(3 * t)]), np.array([1.2 * np.cos(2 * t), -1.2 * np.sin(3 * t)]),
            np.array([-2.4 * np.sin(2 * t), -3.6 * np.cos(3 * t)]))


def follow(law, T=3.0):
    w = moreau.World(step=0.002)
    arm = w.add_robot("arm", robot, s=path(0)[0])
    arm.add_controller(law)
    errors = []
    for _ in range(int(T / 0.002)):
        w.step()
        errors.append(arm.s - path(w.time)[0])
    return np.array(errors)


def pd(c):
    target, rate, _ = path(c.time)
    return 60 * (target - c.s) + 8 * (rate - c.nu)


def computed_torque(c):
    target, rate, acceleration = path(c.time)
    wanted = acceleration + 400 * (target - c.s) + 40 * (rate - c.nu)
    return robot.inverse_dynamics(c.s, c.nu, wanted)


figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for name, law in (("PD", pd), ("computed torque", computed_torque)):
    errors = follow(law)
    ax.plot(0.002 * np.arange(len(errors)), np.degrees(errors[:, 0]), label=name)
    print("%-16s largest error of joint 1 after 1 s: %.3f degrees" % (name, np.degrees(np.abs(errors[500:, 0]).max())))
ax.set_xlabel("time [s]")
ax.set_ylabel("error of joint 1 [degrees]")
ax.legend()
assert np.abs(follow(computed_torque)[500:]).max() < np.abs(follow(pd)[500:]).max()

# %% [markdown]
# ## Exercises
#
# 1. Add gravity compensation to the PD law. How much better is it?
# 2. Stiff gains: multiply both by 100. Does a step of 2 ms still hold? Return `(tau, gain)` with gain = h*kp + kd.
# 3. Check `robot.jacobian` against finite differences of `robot.frame_pose`.
#
# ## Solutions

# %%
errors = follow(lambda c: pd(c) + robot.gravity(c.s))
print("1. with gravity compensation: %.3f degrees" % np.degrees(np.abs(errors[500:, 0]).max()))


def stiff(c):
    target, rate, _ = path(c.time + c.dt)
    kp, kd = 6000.0, 800.0
    tau = kp * (target - c.s - c.dt * c.nu) + kd * (rate - c.nu)
    return tau, np.full(2, c.dt * kp + kd)


print("2. stiff and implicit: %.4f degrees" % np.degrees(np.abs(follow(stiff)[500:, 0]).max()))
frame, d = robot.frames[-1], 1e-6
J = robot.jacobian(frame, s)
D = np.column_stack([(robot.frame_pose(frame, s + d * e)[:3] - robot.frame_pose(frame, s - d * e)[:3]) / (2 * d)
                     for e in np.eye(2)])
print("3. largest difference: %.1e" % np.abs(J[:3] - D).max())
assert np.abs(J[:3] - D).max() < 1e-8

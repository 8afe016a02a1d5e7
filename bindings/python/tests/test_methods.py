"""Methods written in Python: the answers of the same method in C, options, exceptions."""
import gc
import unittest
import weakref

import numpy as np

import moreau

BALL = {"time": {"step": 0.01}, "bodies": [
    {"name": "floor", "shape": "plane", "fixed": True},
    {"name": "ball", "shape": {"sphere": 0.5}, "mass": 1, "position": [0, 0, 2]}]}


def random_lcp(n, seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, n))
    return moreau.Problem("lcp", A=B @ B.T + n * np.eye(n), b=rng.standard_normal(n))


@moreau.solver(accepts="lcp", options={"omega": (1.0, 0.0, 2.0, "relaxation")})
def py_gauss_seidel(problem, z, tol, max_iter, omega):
    """Projected Gauss-Seidel, row by row"""
    A, b = problem.A, problem.b
    z = z.copy()
    for k in range(max_iter):
        for i in range(len(b)):
            z[i] = max(0.0, z[i] - omega * (A[i] @ z + b[i]) / A[i, i])
        if problem.error(z) <= tol:
            return z, k + 1
    return z, max_iter, "not_converged"


class Solve(unittest.TestCase):
    def test_every_builtin_lcp_solver_finds_the_enumerated_answer(self):
        """Brute force over all 2^5 active sets is the reference."""
        problem = random_lcp(5, 3)
        A, b = problem.A, problem.b
        answers = []
        for mask in range(32):
            on = [i for i in range(5) if mask >> i & 1]
            z = np.zeros(5)
            if on:
                z[on] = np.linalg.solve(A[np.ix_(on, on)], -b[on])
            w = A @ z + b
            if z.min() >= 0 and w.min() >= -1e-12:
                answers.append(z)
        self.assertEqual(len(answers), 1)
        for name in ("lemke", "dantzig", "pgs", "fischer-newton", "auto", "py_gauss_seidel"):
            s = moreau.solve(problem, name, tol=1e-10)
            self.assertTrue(s.solved, name)
            np.testing.assert_allclose(s.z, answers[0], atol=1e-8)

    def test_the_same_solver_in_c_and_python(self):
        for seed in range(5):
            problem = random_lcp(12, seed)
            c = moreau.solve(problem, "pgs", tol=1e-12, max_iter=5000)
            python = moreau.solve(problem, "py_gauss_seidel", tol=1e-12, max_iter=5000)
            self.assertTrue(python.solved and c.solved)
            np.testing.assert_allclose(python.z, c.z, atol=1e-10)

    def test_options_have_ranges(self):
        problem = random_lcp(4, 1)
        self.assertTrue(moreau.solve(problem, "py_gauss_seidel", omega=1.2).solved)
        with self.assertRaisesRegex(moreau.BadInput, "omega"):
            moreau.solve(problem, "py_gauss_seidel", omega=3)
        with self.assertRaisesRegex(moreau.BadInput, "did you mean 'omega'"):
            moreau.solve(problem, "py_gauss_seidel", omga=1)
        with self.assertRaisesRegex(moreau.BadInput, "did you mean 'lemke'"):
            moreau.solve(problem, "lemk")

    def test_the_judge_overrules_a_solver_that_lies(self):
        @moreau.solver(accepts="lcp")
        def py_liar(problem, z, tol, max_iter):
            return z + 1.0, 1, "solved"
        self.assertEqual(moreau.solve(random_lcp(4, 2), "py_liar").status, "not_converged")

    def test_exceptions_and_wrong_answers_arrive(self):
        @moreau.solver(accepts="lcp")
        def py_broken(problem, z, tol, max_iter):
            raise ArithmeticError("no idea")

        @moreau.solver(accepts="lcp")
        def py_short(problem, z, tol, max_iter):
            return z[1:]
        with self.assertRaisesRegex(ArithmeticError, "no idea"):
            moreau.solve(random_lcp(4, 2), "py_broken")
        with self.assertRaisesRegex(moreau.BadInput, "3 numbers; 4 are needed"):
            moreau.solve(random_lcp(4, 2), "py_short")
        w = moreau.World(BALL, formulation="st", solver="py_broken")
        with self.assertRaisesRegex(ArithmeticError, "no idea"):
            w.step(100)
        self.assertLess(w.steps, 60)

    def test_registering_again_replaces(self):
        for k in range(100):
            @moreau.solver(accepts="lcp", name="py_again")
            def again(problem, z, tol, max_iter, k=k):
                return z, k
        self.assertEqual(moreau.solve(random_lcp(3, 1), "py_again").iterations, 99)

    def test_names_of_built_in_methods_are_taken(self):
        with self.assertRaisesRegex(moreau.BadInput, "lemke"):
            moreau.solver(accepts="lcp", name="lemke")(lambda p, z, t, m: z)

    def test_sparse_and_dense_are_the_same(self):
        from scipy import sparse
        problem = random_lcp(8, 4)
        other = moreau.Problem("lcp", A=sparse.coo_matrix(problem.A), b=problem.b)
        self.assertTrue(sparse.issparse(other.A))
        np.testing.assert_array_equal(other.A.toarray(), problem.A)
        np.testing.assert_allclose(moreau.solve(problem, "lemke").z, moreau.solve(other, "lemke").z, atol=1e-12)

    def test_friction_of_a_block_on_a_slope_in_closed_form(self):
        # one contact, W = identity: free velocity (-1 normal, 0.3 tangent): sticks for mu >= 0.3, else slides
        for mu, expected in ((0.5, [1, -0.3, 0]), (0.2, [1, -0.2, 0])):
            problem = moreau.Problem("fc3d", W=np.eye(3), q=[-1, 0.3, 0], mu=[mu])
            s = moreau.solve(problem, "nsgs", tol=1e-12)
            np.testing.assert_allclose(s.z, expected, atol=1e-9)
            glob = moreau.Problem("gfc3d", M=np.eye(3), H=np.eye(3), f=[-1, 0.3, 0], q=[0, 0, 0], mu=[mu])
            np.testing.assert_allclose(moreau.solve(glob, "nsgs", tol=1e-12).z[:3], expected, atol=1e-9)
            np.testing.assert_allclose(glob.W, np.eye(3))

    def test_bad_problems_are_refused(self):
        for keys in (dict(A=np.eye(2), b=[1, 2, 3]), dict(A=np.eye(2), b=[1, np.nan]), dict(A=np.ones((2, 3)), b=[1, 2]),
                     dict(A=[1, 2], b=[1, 2])):
            with self.assertRaises(moreau.BadInput):
                moreau.Problem("lcp", **keys)
        with self.assertRaisesRegex(moreau.BadInput, "unknown form"):
            moreau.Problem("lpc", A=np.eye(2), b=[1, 2])

    def test_traces(self):
        s = moreau.solve(random_lcp(8, 4), "pgs", trace=True)
        self.assertEqual(len(s.trace), s.iterations)
        self.assertLess(s.trace[-1]["residual"]["relative"], s.trace[0]["residual"]["relative"])


class Worlds(unittest.TestCase):
    def test_problems_of_a_step_have_their_answer(self):
        w = moreau.World("stack")
        w.step(20)
        problems = w.problems()
        self.assertTrue(problems)
        for p in problems:
            np.testing.assert_allclose(p.nu, p.nu_free + np.linalg.solve(p.M, p.H @ p.impulses), atol=1e-9)
            np.testing.assert_allclose(p.q, p.H.T @ p.nu_free + p.b)
            self.assertTrue(moreau.solve(p, "auto", tol=1e-8).solved)
            fc = moreau.convert(p, "fc3d")
            np.testing.assert_allclose(fc.W if isinstance(fc.W, np.ndarray) else fc.W.toarray(), p.W, atol=1e-9)

    def test_careless_calls_are_refused(self):
        w = moreau.World("stack")
        w.step(3)
        for directions in (-1, 1, 2, 257, 10 ** 6):
            with self.assertRaisesRegex(moreau.BadInput, "directions"):
                w.problems(directions)
        self.assertEqual(w.problems(8)[0].form, "step-pyramid")
        for attribute in ("q", "time", "h"):
            with self.assertRaisesRegex(moreau.Error, "not made"):
                getattr(moreau.Batch.__new__(moreau.Batch), attribute)
        with self.assertRaisesRegex(moreau.Error, "closed"):
            moreau.World.__new__(moreau.World).step()

    def test_a_python_solver_in_a_world(self):
        """Fixed point on De Saxce's map: r = P_K(r - rho (u + mu |u_T| n))."""
        @moreau.solver(accepts="fc3d", options={"rho": (0.0, 0.0, 1e9, "step; 0: from the matrix")})
        def py_fixed_point(problem, z, tol, max_iter, rho):
            W = problem.A.toarray() if hasattr(problem.A, "toarray") else problem.A
            rho = rho or 1.0 / np.linalg.norm(W, 2)
            z = z.copy()
            for k in range(max_iter):
                u = (W @ z + problem.b).reshape(-1, 3)
                u[:, 0] += problem.mu * np.hypot(u[:, 1], u[:, 2])
                r = z.reshape(-1, 3) - rho * u
                for c, mu in zip(r, problem.mu):  # projection on the cone |t| <= mu n
                    t = np.hypot(c[1], c[2])
                    if mu * t <= -c[0]:
                        c[:] = 0
                    elif t > mu * c[0]:
                        n = (c[0] + mu * t) / (1 + mu * mu)
                        c[:] = n, c[1] / t * mu * n, c[2] / t * mu * n
                z = r.ravel()
                if problem.error(z) <= tol:
                    return z, k + 1
            return z, max_iter, "not_converged"
        roll = {**BALL, "bodies": [BALL["bodies"][0], {**BALL["bodies"][1], "position": [0, 0, 0.6], "velocity": [1, 0, 0]}]}
        a, b, c = (moreau.World(roll, solver=s, threads=t) for s, t in (("nsn", 1), ("py_fixed_point", 1), ("py_fixed_point", 2)))
        for w in (a, b, c):
            w.step(60)
        np.testing.assert_allclose(b.q, a.q, atol=1e-6)
        self.assertEqual(b.state_hash, c.state_hash)
        self.assertAlmostEqual(b.v[0], 5 / 7, places=2)  # a sphere that begins to roll keeps 5/7 of its speed

    def test_a_formulation_in_python_equals_the_built_in_one(self):
        @moreau.formulation()
        def py_ncp(system):
            """The step with exact cones"""
            bias = system.bias.copy()
            for c in system.contacts:
                bias[c.row] = c.gap / system.h + c.drift[0]
            return system.solve(system.problem(bias))
        a, b = moreau.World(BALL, formulation="ncp"), moreau.World(BALL, formulation="py_ncp")
        a.step(100), b.step(100)
        np.testing.assert_allclose(a.q, b.q, atol=1e-7)
        c = moreau.World(BALL)
        c.on_solve(py_ncp)
        c.step(100)
        self.assertEqual(b.state_hash, c.state_hash)

    def test_a_formulation_that_raises(self):
        w = moreau.World(BALL)
        w.on_solve(lambda system: system.nothing)
        with self.assertRaises(AttributeError):
            w.step(100)
        kept = []
        w.on_solve(lambda system: kept.append(system) or np.zeros(system.row_count))
        try:
            w.step(100)
        except moreau.NotSolved:
            pass
        with self.assertRaisesRegex(moreau.Error, "while its formulation runs"):
            kept[0].velocity([0, 0, 0])

    def test_collision_in_python(self):
        def find(time, poses, velocities, reach=0.2):
            gap = poses[1, 2] - 0.5
            if gap < reach:
                x, y, z = poses[1, :3]
                yield {"bodies": (0, 1), "point_a": (x, y, 0), "point_b": (x, y, z - 0.5), "normal": (0, 0, 1), "gap": gap}
        moreau.collision("py_find")(find)
        a, b, c = moreau.World(BALL), moreau.World(BALL, collision="py_find"), moreau.World(BALL)
        c.on_collide(find)
        for w in (a, b, c):
            w.step(100)
        np.testing.assert_allclose(b.q, a.q, atol=1e-9)
        np.testing.assert_allclose(c.q, a.q, atol=1e-9)
        for bad in ({"bodies": (0, 7)}, {"normal": (0, 0, 0)}, {"gap": np.nan}):
            w = moreau.World(BALL)
            w.on_collide(lambda t, p, v: [{"bodies": (0, 1), "point_a": (0, 0, 0), "point_b": (0, 0, 0),
                                           "normal": (0, 0, 1), "gap": 0.0, **bad}])
            with self.assertRaisesRegex(moreau.BadInput, "contact 0"):
                w.step()
        w.on_collide(lambda t, p, v: [1 / 0])
        with self.assertRaises(ZeroDivisionError):
            w.step()


class Robots(unittest.TestCase):
    URDF = moreau.__path__[0] + "/scenes/robots/arm6.urdf"

    def setUp(self):
        self.robot = moreau.Robot(self.URDF, floating=False)
        self.rng = np.random.default_rng(5)

    def test_the_equation_of_motion_holds_for_many_states_at_once(self):
        r = self.robot
        s, nu, f = (self.rng.standard_normal((7, 3, r.n)) for _ in range(3))
        M, h = r.mass_matrix(s), r.bias(s, nu)
        nudot = r.forward_dynamics(s, nu, f)
        np.testing.assert_allclose(np.einsum("abij,abj->abi", M, nudot) + h, f, atol=1e-8)
        np.testing.assert_allclose(r.inverse_dynamics(s, nu, nudot), f, atol=1e-8)
        np.testing.assert_array_equal(r.mass_matrix(s[2, 1]), M[2, 1])
        np.testing.assert_allclose(r.kinetic_energy(s, nu), 0.5 * np.einsum("abi,abij,abj->ab", nu, M, nu), atol=1e-10)

    def test_jacobians_are_the_derivative_of_poses(self):
        r, d = self.robot, 1e-6
        s = self.rng.standard_normal(r.n)
        frame = r.frames[-1]
        J = r.jacobian(frame, s)
        for j in range(r.n):
            e = np.eye(r.n)[j] * d
            difference = (r.frame_pose(frame, s + e)[:3] - r.frame_pose(frame, s - e)[:3]) / (2 * d)
            np.testing.assert_allclose(J[:3, j], difference, atol=1e-8)
        np.testing.assert_allclose(r.gravity(s), self._gradient(s), atol=1e-6)

    def _gradient(self, s, d=1e-6):
        V = self.robot.potential_energy
        return np.array([(V(s + d * e) - V(s - d * e)) / (2 * d) for e in np.eye(self.robot.n)])

    def test_wrong_sizes_and_names(self):
        for call in (lambda: self.robot.mass_matrix(np.zeros(3)), lambda: self.robot.jacobian("nix", np.zeros(8)),
                     lambda: self.robot.bias(np.zeros(8), np.zeros(5)), lambda: moreau.Robot("/nowhere.urdf")):
            with self.assertRaises(moreau.BadInput):
                call()

    def test_a_controller_in_python_holds_the_arm(self):
        w = moreau.World(step=0.002)
        arm = w.add_robot("arm", self.robot, s=0.05 * np.ones(self.robot.n))
        robot = self.robot

        @arm.add_controller
        def hold(c):
            c.state[0] += 1
            return robot.gravity(c.s) - 5.0 * c.nu
        w.step(200)
        np.testing.assert_allclose(arm.s, 0.05, atol=1e-6)
        snapshot = w.save()
        w.step(10)
        expected = w.state_hash
        w.restore(snapshot)
        w.step(10)
        self.assertEqual(w.state_hash, expected)

    def test_a_controller_that_raises_stops_the_step(self):
        w = moreau.World(step=0.002)
        arm = w.add_robot("arm", self.robot)
        arm.add_controller(lambda c: [1, 2] if c.time > 0.01 else np.zeros(len(c.s)))
        with self.assertRaisesRegex(moreau.BadInput, "2 numbers; 8 are needed"):
            w.step(100)
        self.assertLess(w.steps, 8)

    def test_a_function_for_every_world_and_none_stays(self):
        """More worlds with functions of their own than methods can be registered; cycles are collected."""
        gone, called = [], []
        for k in range(200):
            w = moreau.World(step=0.002)
            arm = w.add_robot("arm", self.robot)

            def law(c, k=k, arm=arm):  # the function holds its world: a cycle
                called.append(k + arm.number)
                return np.zeros(len(c.s))
            arm.add_controller(law)
            w.step(2)
            self.assertEqual(called[-2:], [k, k])
            gone.append(weakref.ref(law))
            del w, arm, law
        gc.collect()
        self.assertEqual(sum(g() is not None for g in gone), 0)

    def test_controllers_of_scenes_written_in_python(self):
        @moreau.controller("py_hold")
        def hold(c, stiffness=50.0):
            return stiffness * (c.target - c.s) - 5.0 * c.nu
        scene = moreau.Scene(step=0.002).robot("arm", urdf=self.URDF, base="fixed")
        scene.controller(robot="arm", type="py_hold", targets=0.05)
        w = moreau.World(scene)
        w.step(10)
        self.assertTrue(np.all(np.isfinite(w.q)))


if __name__ == "__main__":
    unittest.main()

% 4. Write your own solver: a projected fixed point in place of the formulation. Text: lesson4_own_solver.ipynb
1;
function p = fixed_point(s)
  % r = P_K(r - rho (u + mu |u_t| n)) on the contact rows of the system
  W = s.G' * (s.M \ s.G);
  q = s.G' * s.nu_free + s.bias;
  q(s.row) = q(s.row) + s.gap / s.h;
  rho = 1 / norm(W);
  p = zeros(size(q));
  for k = 1:20000
    u = W * p + q;
    before = p;
    for c = 1:numel(s.row)
      i = s.row(c) + (0:2);
      r = p(i) - rho * (u(i) + [s.mu(c) * norm(u(i(2:3))); 0; 0]);
      t = norm(r(2:3));
      if s.mu(c) * t <= -r(1), r(:) = 0;
      elseif t > s.mu(c) * r(1)
        n = (r(1) + s.mu(c) * t) / (1 + s.mu(c) ^ 2);
        r = [n; r(2:3) / t * s.mu(c) * n];
      end
      p(i) = r;
    end
    if norm(p - before) < 1e-12, break, end
  end
end
scene.bodies = {struct('name', 'floor', 'shape', 'plane', 'fixed', true), ...
                struct('name', 'ball', 'shape', struct('sphere', 0.5), 'mass', 1, 'position', [0 0 0.6], 'velocity', [1 0 0])};
w = MoreauWorld(scene);
w.onSolve(@fixed_point);
w.step(60);
fprintf('a sphere that begins to roll keeps 5/7 of its speed: %.4f (%.4f)\n', w.v(1), 5 / 7);
assert(abs(w.v(1) - 5 / 7) < 0.01);

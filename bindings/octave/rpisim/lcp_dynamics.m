function p = lcp_dynamics(system, solver, directions)
  % p = lcp_dynamics(system, solver, directions)   The Stewart-Trinkle LCP of a system, solved by a function of yours:
  %
  %   z = solver(A, b),   w = A z + b,   0 <= z _|_ w >= 0,   z = [normal impulses; friction by direction; slip speeds]
  %
  % Used by sim_run when sim.H_solver is a function handle. Contacts only: joints need a solver of Moreau.
  n = numel(system.row);
  if sum(system.dim) ~= size(system.G, 2)
    error('moreau:badInput', 'a solver of your own works on contacts only; with joints give the name of a solver of Moreau');
  end
  angles = 2 * pi * (0:directions - 1) / directions;
  Gn = system.G(:, system.row);
  Gf = zeros(size(system.G, 1), n * directions);
  for c = 1:n
    T = system.G(:, system.row(c) + (1:2));
    Gf(:, (c - 1) * directions + (1:directions)) = T * [cos(angles); sin(angles)];
  end
  E = kron(eye(n), ones(directions, 1));
  G = [Gn Gf];
  W = G' * (system.M \ G);
  A = [W, [zeros(n); E]; diag(system.mu), -E', zeros(n)];
  b = [G' * system.nu_free + [system.gap / system.h; zeros(n * directions, 1)]; zeros(n, 1)];
  z = solver(A, b);
  if numel(z) ~= numel(b), error('moreau:badInput', 'the solver must return %d numbers', numel(b)); end
  p = zeros(size(system.G, 2), 1);
  p(system.row) = z(1:n);
  beta = reshape(z(n + (1:n * directions)), directions, n);
  for c = 1:n
    p(system.row(c) + (1:2)) = [cos(angles); sin(angles)] * beta(:, c);
  end
end

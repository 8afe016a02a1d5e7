% 4. Write your own solver and compare it
%
% De Saxce wrote Coulomb's law as a projection on the cone K: with u^ = u + (mu |u_t|, 0, 0), r = P_K(r - rho u^). Repeat this
% with u = W r + q until nothing changes. Here it replaces the solver of a simulation, and is compared with those of Moreau on
% the same problems. The text in full: the notebook.
1;
addpath(fileparts(mfilename('fullpath')), [fileparts(which('MoreauWorld')) '/rpisim']);

function r = project(r, mu)
  % columns (n, t, o), one per contact, on the cone |t| <= mu n
  t = hypot(r(2, :), r(3, :));
  outside = t > mu .* r(1, :);
  inside_polar = mu .* t <= -r(1, :);
  n = (r(1, :) + mu .* t) ./ (1 + mu .^ 2);
  shrink = mu .* n ./ max(t, realmin);
  r(:, outside) = [n(outside); r(2, outside) .* shrink(outside); r(3, outside) .* shrink(outside)];
  r(:, inside_polar) = 0;
end

function [p, k] = fixed_point(W, q, mu, tol, most)
  rho = 1 / norm(W);
  p = zeros(size(q));
  for k = 1:most
    u = reshape(W * p + q, 3, []);
    u(1, :) = u(1, :) + mu' .* hypot(u(2, :), u(3, :));
    before = p;
    p = reshape(project(reshape(p, 3, []) - rho * u, mu'), [], 1);
    if norm(p - before) < tol * norm(p), break, end
  end
end

function [p, k] = one_by_one(W, q, mu, tol, most)
  % Gauss-Seidel: a rho of its own for every contact, new values at once
  p = zeros(size(q));
  for k = 1:most
    before = p;
    for c = 1:numel(mu)
      i = 3 * c + (-2:0);
      u = W(i, :) * p + q(i);
      p(i) = project(p(i) - (u + [mu(c) * hypot(u(2), u(3)); 0; 0]) / norm(W(i, i)), mu(c));
    end
    if norm(p - before) < tol * norm(p), break, end
  end
end

function [W, q] = contact_problem(s)
  % the contact rows of a step as W, q; contacts have three rows each and are all there is
  W = s.G' * (s.M \ s.G);
  q = s.G' * s.nu_free + s.bias;
  q(s.row) = q(s.row) + s.gap / s.h;
end

function p = my_step(s)
  [W, q] = contact_problem(s);
  p = fixed_point(W, q, s.mu, 1e-12, 20000);
end

% your solver in a simulation
clear scene
scene.bodies = {struct('name', 'floor', 'shape', 'plane', 'fixed', true), ...
                struct('name', 'ball', 'shape', struct('sphere', 0.5), 'mass', 1, 'position', [0 0 0.6], 'velocity', [1 0 0])};
w = MoreauWorld(scene);
w.onSolve(@my_step);
w.step(60);
fprintf('a sphere that begins to roll keeps 5/7 of its speed: %.4f (%.4f)\n', w.v(1), 5 / 7);
assert(abs(w.v(1) - 5 / 7) < 0.01);

% a fair comparison: the problems of ten steps of a stack, every solver from zero, judged in the same way
w = MoreauWorld('stack');
problems = {};
for k = 1:10
  w.step(1);
  for y = w.systems
    if ~isempty(y{1}.row), problems{end + 1} = y{1}; end
  end
end
names = {'nsgs', 'nsn', 'admm'};
times = inf(numel(problems), numel(names) + 1);
for k = 1:numel(problems)
  [W, q] = contact_problem(problems{k});
  for s = 1:numel(names)
    [~, r] = moreau_solve('fc3d', W, q, 'mu', problems{k}.mu, 'solver', names{s}, 'tol', 1e-6);
    if strcmp(r.status, 'solved'), times(k, s) = r.time; end
  end
  start = cputime();
  p = fixed_point(W, q, problems{k}.mu, 1e-9, 20000);
  r = moreau_judge('fc3d', W, q, p, 'mu', problems{k}.mu);
  if r.error < 1e-6, times(k, end) = max(cputime() - start, 1e-6); end
end
names{end + 1} = 'my fixed point';
lesson_figure();
hold on
styles = {'b-', 'r-', 'g-', 'k-'};
for s = 1:numel(names)
  solved = sort(times(isfinite(times(:, s)), s))';
  fprintf('%-15s solved %2d of %2d, median %.2g s\n', names{s}, numel(solved), numel(problems), median(solved));
  stairs([solved, 10], [1:numel(solved), numel(solved)] / numel(problems), styles{s});
end
set(gca, 'xscale', 'log');
legend(names{:}, 'location', 'southeast');
xlabel('time of the solver [s]');
ylabel('share solved');
lesson_figure('lesson4');
assert(all(isfinite(times(:, 2))) && all(isfinite(times(:, end))));

% Exercises
% 1. Use a rho of its own for every contact and new values at once (Gauss-Seidel). How many sweeps?
% 2. What does the judge say of a wrong answer?
% 3. Give your solver to the calls of RPIsim: sim.H_solver = @(A, b) ... on the Stewart-Trinkle LCP (help Simulator).

% Solutions
[W, q] = contact_problem(problems{end});
mu = problems{end}.mu;
[~, a] = fixed_point(W, q, mu, 1e-5, 20000);
[p, b] = one_by_one(W, q, mu, 1e-5, 20000);
r = moreau_judge('fc3d', W, q, p, 'mu', mu);
fprintf('1. %d iterations at once, %d sweeps one by one (error %.1e)\n', a, b, r.error);
r = moreau_judge('fc3d', W, q, p + 1, 'mu', mu);
fprintf('2. the error of a wrong answer is %.1e\n', r.error);
assert(r.error > 1e-3);
ball = Body_sphere(1, 0.5);
ball.u = [0; 0; 0.55];
sim = sim_addBody(Simulator(), [Body_plane([0; 0; 0], [0; 0; 1]), ball]);
sim.num_fricdirs = 4;
sim.H_dynamics = @LCPdynamics;
sim.H_solver = @(A, b) moreau_solve('lcp', A, b, 'solver', 'lemke', 'tol', 1e-10); % in its place: a function of yours
sim.MAX_STEP = 30;
sim = sim_run(sim);
fprintf('3. the ball rests at %.4f m\n', sim.bodies(2).u(3));
assert(abs(sim.bodies(2).u(3) - 0.5) < 1e-6);

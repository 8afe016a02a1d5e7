% 3. Friction: cone and pyramid
%
% Coulomb's law for one contact: |p_t| <= mu p_n, and if it slides, p_t is mu p_n against the slip. The set is a cone;
% Stewart and Trinkle replace it by a pyramid with n_d sides, which makes the problem an LCP. What does that cost?
% The text in full: the notebook.
1;
addpath(fileparts(mfilename('fullpath')));

function u = after(angle, sides, mu)
  % velocity after the impact of a particle of unit mass that arrives with (-1, cos, sin), normal first
  q = [-1; cos(angle); sin(angle)];
  if sides == 0
    u = q + moreau_solve('fc3d', eye(3), q, 'mu', mu, 'solver', 'nsgs', 'tol', 1e-12);
    return
  end
  corners = 2 * pi * (0:sides - 1) / sides; % the pyramid by hand: unknowns p_n, beta, lambda
  H = [1, zeros(1, sides); zeros(2, 1), [cos(corners); sin(corners)]];
  A = [H' * H, [0; ones(sides, 1)]; mu, -ones(1, sides), 0];
  z = moreau_solve('lcp', A, [H' * q; 0], 'solver', 'lemke', 'tol', 1e-10);
  u = q + H * z(1:end - 1);
end

function v = slide(formulation, sides, angle, align)
  % a block on a slope; gravity is tilted instead of the floor, in the direction `angle`
  alpha = 0.6; g = 9.81;
  scene.time.step = 0.005;
  scene.gravity = g * [sin(alpha) * cos(angle), sin(alpha) * sin(angle), -cos(alpha)];
  scene.materials.default.friction = 0.3;
  scene.method = struct('formulation', formulation, 'friction_directions', sides);
  if nargin > 3, scene.method.friction_align = align; end
  scene.bodies = {struct('name', 'floor', 'shape', 'plane', 'fixed', true), ...
                  struct('name', 'block', 'shape', struct('box', [0.4 0.4 0.05]), 'mass', 1, 'position', [0 0 0.025])};
  w = MoreauWorld(scene);
  w.step(100);
  v = w.v(1:3);
end

mu = 0.5;
angles = linspace(0, 2 * pi, 73);
lesson_figure();
hold on
styles = {'b-', 'r-', 'g-'};
sides = [0 4 8];
for k = 1:3
  u = zeros(3, numel(angles));
  for a = 1:numel(angles), u(:, a) = after(angles(a), sides(k), mu); end
  plot(u(2, :), u(3, :), styles{k});
  if k == 1, assert(max(abs(hypot(u(2, :), u(3, :)) - (1 - mu))) < 1e-8); end
end
axis equal
legend('cone', '4 sides', '8 sides');
xlabel('u_t [m/s]');
ylabel('u_o [m/s]');
lesson_figure('lesson3');
% With the cone the particle keeps its direction. With the pyramid it is turned towards the corners.

exact = 9.81 * (sin(0.6) - 0.3 * cos(0.6)) * 0.5; % g (sin - mu cos) t
for run = {{'ncp', 8}, {'st', 4}, {'st', 8}, {'st', 32}}
  v = slide(run{1}{:}, pi / 8);
  fprintf('%-4s %2d sides: speed %.4f m/s (exact %.4f), direction off by %.2f degrees\n', run{1}{:}, norm(v), exact, ...
          atan2(v(2), v(1)) * 180 / pi - 22.5);
end
assert(abs(norm(slide('ncp', 8, pi / 8)) - exact) < 1e-3);

% Exercises
% 1. For which direction of the slope is the pyramid with four sides exact? Check it.
% 2. How does the error of the speed fall with the number of sides?
% 3. Turn the first direction into the slip: friction_align = 'slip'. What changes?

% Solutions
fprintf('1. along a corner: %.4f m/s\n', norm(slide('st', 4, 0)));
assert(abs(norm(slide('st', 4, 0)) - exact) < 1e-3);
for n = [4 8 16 32]
  fprintf('2. %2d sides: error %.5f m/s\n', n, norm(slide('st', n, pi / n)) - exact);
end
v = slide('st', 4, 0.5, 'slip');
fprintf('3. direction off by %.3f degrees\n', (atan2(v(2), v(1)) - 0.5) * 180 / pi);

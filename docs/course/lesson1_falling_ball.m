% 1. The complementarity of a falling ball
%
% A ball falls on a floor. With the gap psi and the normal impulse p of a time step: 0 <= psi _|_ p >= 0. Both are not
% negative, and one of them is zero. The semi-implicit step is
%
%   m v+ = m v - m g h + p,   psi+ = psi + h v+,   0 <= psi+ _|_ p >= 0
%
% or w = p / m + (psi / h + v - g h): a linear complementarity problem with one row. The text in full: the notebook.
addpath(fileparts(mfilename('fullpath')));
m = 1; g = 9.81; h = 0.01; r = 0.1;

% the step by hand
psi = 0.9; v = 0;
by_hand = zeros(100, 3);
for k = 1:100
  b = psi / h + v - g * h;
  p = max(0, -m * b);
  v = v - g * h + p / m;
  psi = psi + h * v;
  by_hand(k, :) = [psi v p];
end

% the same with Moreau
clear scene
scene.time.step = h;
scene.bodies = {struct('name', 'floor', 'shape', 'plane', 'fixed', true), ...
                struct('name', 'ball', 'shape', struct('sphere', r), 'mass', m, 'position', [0 0 0.9 + r])};
w = MoreauWorld(scene);
heights = zeros(100, 1);
for k = 1:100
  w.step(1);
  heights(k) = w.poses(2, 3) - r;
end
fprintf('largest difference of the heights: %.1e m\n', max(abs(heights - by_hand(:, 1))));
assert(max(abs(heights - by_hand(:, 1))) < 1e-9);

t = h * (1:100)';
lesson_figure();
subplot(2, 1, 1);
plot(t, heights, 'b-', t, by_hand(:, 1), 'r--');
legend('Moreau', 'by hand');
ylabel('gap [m]');
subplot(2, 1, 2);
stairs(t, by_hand(:, 3));
ylabel('impulse [N s]');
xlabel('time [s]');
lesson_figure('lesson1');
% Where the gap is positive the impulse is zero, and the other way round. Afterwards it is m g h in every step.

% Exercises
% 1. How large is the impulse of the impact? Compare it with m times the speed before it.
% 2. Halve the step. What happens to the impulse of the impact, and to the one of resting?
% 3. Add restitution e = 0.8 to both bodies (scene.materials.default.restitution). How high does the ball come back?

% Solutions
[impact, k] = max(by_hand(:, 3));
fprintf('1. impulse %.4f N s, m times the speed before: %.4f N s\n', impact, -m * by_hand(k - 1, 2));
for h2 = [0.01 0.005]
  scene.time.step = h2;
  w = MoreauWorld(scene);
  impulses = zeros(1, round(1 / h2));
  for k = 1:numel(impulses)
    w.step(1);
    c = w.contacts;
    impulses(k) = sum(c(:, 12));
  end
  fprintf('2. h = %g s: impact %.4f N s, rest %.5f N s (m g h = %.5f)\n', h2, max(impulses), impulses(end), m * g * h2);
end
assert(abs(impulses(end) - m * g * h2) < 1e-9);
scene.time.step = 0.001;
scene.materials.default.restitution = 0.8;
w = MoreauWorld(scene);
top = 0;
falling = true;
for k = 1:1500
  w.step(1);
  falling = falling && w.v(3) < 0;
  if ~falling, top = max(top, w.q(3) - r); end
end
fprintf('3. it comes back to %.3f m; e^2 times 0.9 m is %.3f m\n', top, 0.64 * 0.9);
assert(abs(top - 0.64 * 0.9) < 0.02);

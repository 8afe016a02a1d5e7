% 1. The complementarity of a falling ball: the step by hand and with Moreau. Text: lesson1_falling_ball.ipynb
m = 1; g = 9.81; h = 0.01; r = 0.1;
psi = 0.9; v = 0;
by_hand = zeros(100, 3);
for k = 1:100
  b = psi / h + v - g * h;         % w = p / m + b, 0 <= w _|_ p >= 0
  p = max(0, -m * b);
  v = v - g * h + p / m;
  psi = psi + h * v;
  by_hand(k, :) = [psi v p];
end
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
fprintf('impulse of the impact %.4f N s, of resting %.5f N s (m g h = %.5f)\n', max(by_hand(:, 3)), by_hand(end, 3), m * g * h);

% 3. Friction: cone and pyramid. A block slides on a floor between two corners of the pyramid. Text: lesson3_friction.ipynb
1;
function v = slide(formulation, sides, angle)
  alpha = 0.6; g = 9.81;
  scene.time.step = 0.005;
  scene.gravity = g * [sin(alpha) * cos(angle), sin(alpha) * sin(angle), -cos(alpha)];
  scene.materials.default.friction = 0.3;
  scene.method = struct('formulation', formulation, 'friction_directions', sides);
  scene.bodies = {struct('name', 'floor', 'shape', 'plane', 'fixed', true), ...
                  struct('name', 'block', 'shape', struct('box', [0.4 0.4 0.05]), 'mass', 1, 'position', [0 0 0.025])};
  w = MoreauWorld(scene);
  w.step(100);
  v = w.v(1:3);
end
exact = 9.81 * (sin(0.6) - 0.3 * cos(0.6)) * 0.5;
for sides = [4 8 16 32]
  fprintf('st, %2d sides: error of the speed %.5f m/s\n', sides, norm(slide('st', sides, pi / sides)) - exact);
end
fprintf('ncp, the cone: error of the speed %.1e m/s\n', norm(slide('ncp', 8, pi / 8)) - exact);
assert(abs(norm(slide('ncp', 8, pi / 8)) - exact) < 1e-3);
z = moreau_solve('fc3d', eye(3), [-1; 0.8; 0.6], 'mu', 0.5, 'solver', 'nsgs', 'tol', 1e-12);
fprintf('one contact: p = (%.3f, %.3f, %.3f)\n', z);
assert(norm(z - [1; -0.4; -0.3]) < 1e-8);

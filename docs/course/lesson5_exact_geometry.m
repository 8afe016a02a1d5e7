% 5. Exact geometry: a peg and a hole
%
% A box of 0.99999 m falls between four cubes of 1 m: 5 micrometres of room on each side. Methods that see contacts before
% they close put planes where there is only an edge, and the peg stops in the air. The formulation peg treats every pair as a
% choice of several planes, and which one is part of the problem. The text in full: the notebook.
1;
addpath(fileparts(mfilename('fullpath')));

function w = peg_world(formulation, size, collision, place)
  scene.method = struct('formulation', formulation, 'collision', collision);
  places = [-1 0 0; 1 0 0; 0 1 0; 0 -1 0];
  scene.bodies = {};
  for k = 1:4
    scene.bodies{k} = struct('name', sprintf('c%d', k), 'shape', struct('box', [1 1 1]), 'fixed', true, ...
                             'position', places(k, :));
  end
  scene.bodies{5} = struct('name', 'peg', 'shape', struct('box', size * [1 1 1]), 'mass', 1, 'position', place);
  w = MoreauWorld(scene);
end

function z = drop(formulation, size, collision)
  if nargin < 3, collision = 'features'; end
  w = peg_world(formulation, size, collision, [0 0 1.5]);
  z = zeros(1, 60);
  for k = 1:60
    w.step(1);
    z(k) = w.poses(5, 3);
  end
end

t = 0.01 * (1:60);
free = 1.5 - 9.81e-4 * (1:60) .* (2:61) / 2;
exact = drop('peg', 0.99999);
lesson_figure();
plot(t, exact, 'b-', t, drop('st', 0.99999), 'r-', t, free, 'k--');
legend('peg', 'st', 'free fall', 'location', 'southwest');
xlabel('time [s]');
ylabel('height of the peg [m]');
lesson_figure('lesson5');
assert(max(abs(exact - free)) < 1e-9);
% With peg it falls through as if nothing were there: it never touches. With st it stops on planes that are not there.
for size_ = [0.99 0.99999 1.02]
  z = drop('peg', size_);
  fprintf('size %g m: after 0.6 s at z = %.6f m\n', size_, z(end));
end
assert(abs(z(end) - 1.01) < 1e-4);

% Exercises
% 1. Why does a peg of 1.02 m rest at z = 1.01 m?
% 2. Try st and ncp with the collision method 'manifold', which drops contacts that no face realises.
% 3. Shift a peg of 0.99 m by 0.1 m in x. What should happen, and what does?

% Solutions
fprintf('1. the cubes end at z = 0.5 m, and half of the peg is 0.51 m\n');
for formulation = {'st', 'ncp'}
  z = drop(formulation{1}, 0.99999, 'manifold');
  fprintf('2. %s with manifold: z = %.4f m (free fall: %.4f m)\n', formulation{1}, z(end), free(end));
end
w = peg_world('peg', 0.99, 'features', [0.1 0 1.2]);
w.step(60);
fprintf('3. it lands on one cube and tips: u = (%.3f, %.3f, %.3f)\n', w.poses(5, 1:3));

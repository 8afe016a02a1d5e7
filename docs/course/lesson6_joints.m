% 6. Joints and constraint drift
%
% A joint is an equation phi(q) = 0 between two bodies; a time step works with velocities, G' nu = 0. What is lost in a step
% stays: the joint drifts apart. Four answers: nothing, Baumgarte's term, projection after the step, and impulses until the
% joint holds at the end of the step (Bender and Schmitt). The text in full: the notebook.
1;
addpath(fileparts(mfilename('fullpath')));

function [errors, energy] = pendulum(stabilisation, h, T, coordinates)
  if nargin < 4, coordinates = 'maximal'; end
  scene.time.step = h;
  scene.method = struct('stabilisation', stabilisation, 'coordinates', coordinates);
  scene.bodies = {struct('name', 'rod', 'shape', struct('box', [0.5 0.02 0.02]), 'mass', 1, 'position', [0.25 0 0])};
  scene.joints = {struct('name', 'pivot', 'type', 'revolute', 'bodies', {{'world', 'rod'}}, 'point', [0 0 0], ...
                         'axis', [0 1 0])};
  w = MoreauWorld(scene);
  errors = zeros(1, round(T / h));
  energy = errors;
  for k = 1:numel(errors)
    w.step(1);
    i = w.info;
    errors(k) = i.joint_error;
    energy(k) = i.kinetic + i.potential;
  end
end

names = {'none', 'baumgarte', 'projection', 'impulse'};
styles = {'b-', 'r-', 'g-', 'k-'};
t = 0.005 * (1:600);
lesson_figure();
for k = 1:4
  [errors, energy] = pendulum(names{k}, 0.005, 3);
  subplot(2, 1, 1);
  semilogy(t, max(errors, 1e-17), styles{k});
  hold on
  subplot(2, 1, 2);
  plot(t, energy, styles{k});
  hold on
  fprintf('%-10s largest joint error %.1e m, energy at the end %.4f J\n', names{k}, max(errors), energy(end));
end
assert(max(errors) < 2e-5);
subplot(2, 1, 1);
ylabel('joint error [m]');
subplot(2, 1, 2);
ylabel('energy [J]');
xlabel('time [s]');
legend(names{:}, 'location', 'southwest');
lesson_figure('lesson6');

% minimal coordinates: describe the rod by its angle, and there is no equation left that could be violated
[errors, energy] = pendulum('impulse', 0.005, 3, 'minimal');
fprintf('minimal coordinates: joint error %.1e m, energy varies by %.1e J\n', max(errors), max(energy) - min(energy));

% Exercises
% 1. How does the drift without stabilisation depend on the step?
% 2. Compare the period of the pendulum with 2 pi sqrt(2 l / (3 g)) for small swings.
% 3. What happens with two joints that say the same (a second pivot on the same axis)? Look at w.run(10).joints.

% Solutions
for h = [0.01 0.005 0.0025]
  errors = pendulum('none', h, 2);
  fprintf('1. h = %g s: drift after 2 s %.2e m\n', h, errors(end));
end
clear scene
scene.time.step = 0.001;
scene.bodies = {struct('name', 'rod', 'shape', struct('box', [0.02 0.02 0.5]), 'mass', 1, 'position', [0 0 -0.25], ...
                       'angular_velocity', [0 0.05 0], 'velocity', [-0.0125 0 0])};
scene.joints = {struct('name', 'pivot', 'type', 'revolute', 'bodies', {{'world', 'rod'}}, 'point', [0 0 0], 'axis', [0 1 0])};
w = MoreauWorld(scene);
x = zeros(1, 4000);
for k = 1:4000
  w.step(1);
  x(k) = w.poses(1, 1);
end
zeros_ = find(diff(sign(x)));
period = 2 * mean(diff(zeros_)) * 0.001;
formula = 2 * pi * sqrt(2 * 0.5 / (3 * 9.81));
fprintf('2. period %.4f s, formula %.4f s\n', period, formula);
assert(abs(period - formula) < 0.01);
scene.joints{2} = struct('name', 'again', 'type', 'revolute', 'bodies', {{'world', 'rod'}}, 'point', [0 0.1 0], 'axis', [0 1 0]);
w = MoreauWorld(scene);
numbers = w.run(10);
fprintf('3. %d equations of rank %d: one freedom is left\n', numbers.joints.equations, numbers.joints.rank);
assert(numbers.joints.rank == 5);

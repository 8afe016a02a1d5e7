% 7. A robot and its controller
%
% A robot in minimal coordinates obeys M(q) nudot + h(q, nu) = tau + J' f. You look at M, h and J, hold an arm, and let it
% follow a path, first with PD control, then with computed torques. The text in full: the notebook.
1;
addpath(fileparts(mfilename('fullpath')));

function [s, v, a] = path_of(t)
  s = [0.6 * sin(2 * t); 0.4 * cos(3 * t)];
  v = [1.2 * cos(2 * t); -1.2 * sin(3 * t)];
  a = [-2.4 * sin(2 * t); -3.6 * cos(3 * t)];
end

function tau = pd(robot, t, s, nu)
  [target, rate] = path_of(t);
  tau = 60 * (target - s) + 8 * (rate - nu);
end

function tau = computed_torque(robot, t, s, nu)
  [target, rate, acceleration] = path_of(t);
  tau = robot.inverseDynamics(s, nu, acceleration + 400 * (target - s) + 40 * (rate - nu));
end

function errors = follow(robot, urdf, law)
  scene.time.step = 0.002;
  scene.robots = {struct('name', 'arm', 'urdf', urdf)};
  w = MoreauWorld(scene);
  w.q = path_of(0);
  errors = zeros(2, 1500);
  for k = 1:1500
    w.torque(1, law(robot, 0.002 * (k - 1), w.q, w.v));
    w.step(1);
    errors(:, k) = w.q - path_of(0.002 * k);
  end
end

urdf = [fileparts(moreau_scene('plate_arm')) '/../robots/arm2.urdf'];
robot = MoreauRobot(urdf, 'floating', false);
fprintf('%d joints: %s, mass %.2f kg\n', robot.n, strjoin({robot.joints.name}, ', '), robot.mass);
s = [0.5; 0.3];
disp(robot.massMatrix(s));
disp(robot.gravity(s));

% the equation of motion at a hundred random states at once: forward and inverse dynamics are inverse to each other
randn('twister', 1);
states = randn(2, 100);
speeds = randn(2, 100);
forces = randn(2, 100);
back = robot.inverseDynamics(states, speeds, robot.forwardDynamics(states, speeds, forces));
fprintf('largest difference: %.1e N m\n', max(abs(back(:) - forces(:))));
assert(max(abs(back(:) - forces(:))) < 1e-9);

% following a path
a = follow(robot, urdf, @pd);
b = follow(robot, urdf, @computed_torque);
degrees = 180 / pi;
fprintf('PD: largest error of joint 1 after 1 s %.3f degrees; computed torque: %.3f degrees\n', ...
        degrees * max(abs(a(1, 500:end))), degrees * max(abs(b(1, 500:end))));
assert(max(abs(b(1, 500:end))) < max(abs(a(1, 500:end))));
t = 0.002 * (1:1500);
lesson_figure();
plot(t, degrees * a(1, :), 'b-', t, degrees * b(1, :), 'r-');
legend('PD', 'computed torque');
xlabel('time [s]');
ylabel('error of joint 1 [degrees]');
lesson_figure('lesson7');

% Exercises
% 1. Add gravity compensation to the PD law. How much better is it?
% 2. Check robot.jacobian against finite differences of robot.framePose.
% 3. Move the control law into another process: moreau run SCENE --control unix:PATH, and MoreauLink here.

% Solutions
c = follow(robot, urdf, @(r, t, s, nu) pd(r, t, s, nu) + r.gravity(s));
fprintf('1. with gravity compensation: %.3f degrees\n', degrees * max(abs(c(1, 500:end))));
assert(max(abs(c(1, 500:end))) < max(abs(a(1, 500:end))));
frame = robot.frames{end};
J = robot.jacobian(frame, s);
d = 1e-6;
for j = 1:2
  e = zeros(2, 1);
  e(j) = d;
  D = (robot.framePose(frame, s + e) - robot.framePose(frame, s - e)) / (2 * d);
  assert(max(abs(D(1:3) - J(1:3, j))) < 1e-8);
end
fprintf('2. the Jacobian is the derivative of the pose\n3. see examples/control/hold.m\n');

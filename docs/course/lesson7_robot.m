% 7. A robot and its controller: PD control of an arm, torques from Octave in every step. Text: lesson7_robot.ipynb
urdf = [getenv('MOREAU_SCENES') '/robots/arm2.urdf'];
if ~exist(urdf, 'file'), urdf = [pwd '/scenes/robots/arm2.urdf']; end
scene.time.step = 0.002;
scene.robots = {struct('name', 'arm', 'urdf', urdf)};
w = MoreauWorld(scene);
target = [0.5; -0.3];
for gains = [20 200 800]
  w.q = [0; 0];
  w.v = [0; 0];
  for k = 1:2000
    w.torque(1, gains * (target - w.q) - 2 * sqrt(gains) * w.v);
    w.step(1);
  end
  fprintf('kp = %3d: off by (%.4f, %.4f) rad: gravity pulls, stiffness holds\n', gains, w.q - target);
end
assert(norm(w.q - target) < 0.1);

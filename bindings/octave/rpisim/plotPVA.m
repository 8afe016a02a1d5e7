function sim = plotPVA(sim)
  % sim.userFunction = @plotPVA   Position, velocity and acceleration of the last body along z, drawn at the end.
  b = sim.bodies(end);
  sim = collect(sim, 'pva', [sim.world.time, b.u(3), b.nu(3)]);
  if sim.step < sim.MAX_STEP, return, end
  p = sim.userData.pva;
  a = [diff(p(:, 3)) / sim.h; NaN];
  subplot(3, 1, 1), plot(p(:, 1), p(:, 2)), ylabel('z [m]')
  subplot(3, 1, 2), plot(p(:, 1), p(:, 3)), ylabel('v_z [m/s]')
  subplot(3, 1, 3), plot(p(:, 1), a), ylabel('a_z [m/s^2]'), xlabel('time [s]')
end

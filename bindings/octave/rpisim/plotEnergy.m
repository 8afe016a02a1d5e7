function sim = plotEnergy(sim)
  % sim.userFunction = @plotEnergy   Collects kinetic, potential and total energy [J] in sim.userData and draws them at the end.
  info = sim.world.info;
  sim = collect(sim, 'energy', [info.time, info.kinetic, info.potential]);
  if sim.step < sim.MAX_STEP, return, end
  e = sim.userData.energy;
  plot(e(:, 1), e(:, 2), 'r', e(:, 1), e(:, 3), 'b', e(:, 1), e(:, 2) + e(:, 3), 'k');
  legend('kinetic', 'potential', 'total');
  xlabel('time [s]');
  ylabel('energy [J]');
end

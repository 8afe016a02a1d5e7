function sim = plotJointError(sim)
  % sim.userFunction = @plotJointError   The largest violation of a joint [m, rad] over time, drawn at the end.
  info = sim.world.info;
  sim = collect(sim, 'joint_error', [info.time, info.joint_error]);
  if sim.step < sim.MAX_STEP, return, end
  e = sim.userData.joint_error;
  semilogy(e(:, 1), max(e(:, 2), 1e-17));
  xlabel('time [s]');
  ylabel('joint error [m, rad]');
end

function sim = sim_addBody(sim, bodies)
  % sim = sim_addBody(sim, bodies)   Adds one body or an array of them.
  for k = 1:numel(bodies)
    body = bodies(k);
    body.u = body.u(:);
    body.bodyID = sim.num_bodies + 1;
    if isempty(body.name), body.name = sprintf('body_%d', body.bodyID); end
    if isempty(sim.bodies), sim.bodies = body; else, sim.bodies(end + 1) = body; end
    sim.num_bodies = sim.num_bodies + 1;
  end
end

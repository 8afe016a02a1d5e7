function [formulation, solver, handle] = sim_methods(sim)
  % [formulation, solver, handle] = sim_methods(sim)   What H_dynamics and H_solver mean in Moreau. handle: a function of the
  % user's in place of the formulation, or [].
  formulation = 'st';
  solver = '';
  handle = [];
  known = {'LCPdynamics', 'st'; 'mLCPdynamics', 'st'; 'PEG3d', 'peg'; 'PEGdynamics', 'peg'; ...
           'APdynamics', 'ap'; 'NCPdynamics', 'ncp'; 'mNCPdynamics', 'mncp'; 'penaltydynamics', 'penalty'; ...
           'TodorovLCPdynamics', 'implicit'};
  d = sim.H_dynamics;
  if ischar(d)
    formulation = d;
  elseif ~isempty(d)
    k = find(strcmp(known(:, 1), strrep(func2str(d), '@', '')));
    if isempty(k), handle = d; else, formulation = known{k, 2}; end
  end
  s = sim.H_solver;
  names = {'Lemke', 'lemke'; 'lemke', 'lemke'; 'pgs', 'pgs'; 'fischer_newton', 'fischer-newton'; ...
           'minmap_newton', 'minmap-newton'; 'pathsolver', 'path'; 'psor', 'psor'};
  if ischar(s)
    solver = s;
  elseif ~isempty(s)
    k = find(strcmp(names(:, 1), strrep(func2str(s), '@', '')));
    if ~isempty(k)
      solver = names{k, 2};
    elseif strcmp(formulation, 'st') && isempty(handle)
      directions = sim.num_fricdirs;
      handle = @(system) lcp_dynamics(system, s, directions); % z = s(A, b)
    else
      error('moreau:badInput', 'a solver of your own goes with @LCPdynamics');
    end
  end
end

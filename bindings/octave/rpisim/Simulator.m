function sim = Simulator(h)
  % sim = Simulator(h)   A simulation like that of the RPI MATLAB Simulator; h: step [s], default 0.01
  %
  % Add bodies with sim_addBody and joints with sim_addJoint, set fields, and call sim = sim_run(sim).
  %
  %   MAX_STEP          steps of sim_run (100; the original goes on until its window is closed)
  %   gravity, gravityVector, FRICTION, num_fricdirs, userFunction, userData    as in the original
  %   H_dynamics        @LCPdynamics, @mLCPdynamics, @PEG3d, @NCPdynamics, the name of a formulation of Moreau ('peg-exact',
  %                     'ncp', ...), or a function of yours: impulses = f(system), see MoreauWorld.onSolve
  %   H_solver          @lemke, @pgs, ..., the name of a solver of Moreau, or a function of yours on the LCP: z = f(A, b);
  %                     [] lets Moreau choose
  %   friction_rule     'rpisim': 0.5 mu1 mu2, what the original uses; 'moreau': sqrt(mu1 mu2)
  %
  % docs/rpisim.md lists what differs.
  if nargin < 1, h = 0.01; end
  sim = struct('h', h, 'time', 0, 'step', 0, 'MAX_STEP', 100, 'gravity', true, 'gravityVector', [0; 0; -9.81], ...
               'jointCorrection', true, 'FRICTION', true, 'num_fricdirs', 7, 'userFunction', [], 'userData', struct(), ...
               'H_dynamics', [], 'H_solver', [], 'bodies', [], 'contacts', [], 'joints', [], 'num_bodies', 0, ...
               'draw', false, 'drawContacts', false, 'friction_rule', 'rpisim', 'scene', struct(), 'solution_error', [], ...
               'newNU', [], 'world', [], 'state_hash', '');
end

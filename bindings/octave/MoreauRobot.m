classdef MoreauRobot < handle
  % MoreauRobot  Kinematics and dynamics of a robot of a URDF file, for one state or many at once.
  %
  %   r = MoreauRobot('arm.urdf')                     floating base; 'floating', false: fixed
  %   M = r.massMatrix(s)                             N x N; s: n joint positions [rad, m]
  %   h = r.bias(s, nu)                               Coriolis, centrifugal and gravity terms [N, N m]
  %   g = r.gravity(s)                                the gravity part of h
  %   nudot = r.forwardDynamics(s, nu, f)             M nudot + h = f
  %   f = r.inverseDynamics(s, nu, nudot)
  %   p = r.framePose('tool', s)                      position [m], quaternion w x y z
  %   J = r.jacobian('tool', s)                       6 x N: velocity of the origin, angular velocity, world axes
  %   d = r.jacobianDrift('tool', s, nu)              dJ/dt nu
  %   r.com(s), r.momentum(s, nu), r.kineticEnergy(s, nu), r.potentialEnergy(s)
  %
  % Many states: columns. With s of n x K, M is N x N x K and h is N x K; nu, f and the base have K columns, or one for
  % all. nu = [velocity of the base; its angular velocity; joint velocities] in world axes; a fixed base has the last part
  % only. At the end of every call may stand 'base', pose (7) and 'gravity', vector (3, default [0 0 -9.81]).
  % Options of the constructor: 'floating', 'joints' (cell of the names to keep), 'shapes', 'strict'.
  properties (SetAccess = private)
    id = -1
    n          % joints
    dof        % N: velocities
    floating
    mass       % [kg]
    joints     % struct array: name, type, lower, upper, effort, speed
    frames     % cell of names
    links      % cell of names
    notes      % what the reader of the file had to say
  end
  methods
    function r = MoreauRobot(path, varargin)
      o = struct('floating', true, 'joints', {[]}, 'shapes', true, 'strict', false);
      for k = 1:2:numel(varargin)
        if k == numel(varargin) || ~ischar(varargin{k}) || ~isfield(o, varargin{k})
          error('moreau:badInput', 'options of a robot: floating, joints, shapes, strict, each with a value');
        end
        o.(varargin{k}) = varargin{k + 1};
      end
      [r.id, r.notes] = moreau_call('robot_load', path, double(o.floating), o.joints, double(o.shapes), double(o.strict));
      i = moreau_call('robot_info', r.id);
      r.n = i.n;
      r.dof = i.dof;
      r.floating = i.floating;
      r.mass = i.mass;
      r.joints = i.joints;
      r.frames = i.frames;
      r.links = i.links;
    end
    function delete(r)
      try
        if r.id >= 0, moreau_mex('robot_free', r.id); end
      catch
        % the program is ending: the robots went with the mex file
      end
      r.id = -1;
    end
    function x = massMatrix(r, s, varargin), x = r.call('mass', '', s, [], [], varargin); end
    function x = bias(r, s, nu, varargin)
      if nargin < 3, nu = []; end
      x = r.call('bias', '', s, nu, [], varargin);
    end
    function x = gravity(r, s, varargin), x = r.call('bias', '', s, [], [], varargin); end
    function x = forwardDynamics(r, s, nu, f, varargin)
      if nargin < 3, nu = []; end
      if nargin < 4, f = []; end
      x = r.call('forward', '', s, nu, f, varargin);
    end
    function x = inverseDynamics(r, s, nu, nudot, varargin)
      if nargin < 3, nu = []; end
      if nargin < 4, nudot = []; end
      x = r.call('inverse', '', s, nu, nudot, varargin);
    end
    function x = framePose(r, frame, s, varargin), x = r.call('pose', frame, s, [], [], varargin); end
    function x = jacobian(r, frame, s, varargin), x = r.call('jacobian', frame, s, [], [], varargin); end
    function x = jacobianDrift(r, frame, s, nu, varargin), x = r.call('drift', frame, s, nu, [], varargin); end
    function x = com(r, s, varargin), x = r.call('com', '', s, [], [], varargin); end
    function x = momentum(r, s, nu, varargin), x = r.call('momentum', '', s, nu, [], varargin); end
    function x = kineticEnergy(r, s, nu, varargin), x = r.call('kinetic', '', s, nu, [], varargin); end
    function x = potentialEnergy(r, s, varargin), x = r.call('potential', '', s, [], [], varargin); end
  end
  methods (Access = private)
    function x = call(r, what, frame, s, nu, f, options)
      base = [];
      g = [0 0 -9.81];
      for k = 1:2:numel(options)
        if k == numel(options) || ~any(strcmp(options{k}, {'base', 'gravity'}))
          error('moreau:badInput', 'at the end of a call: ''base'', pose and ''gravity'', vector');
        end
        if strcmp(options{k}, 'base'), base = options{k + 1}; else, g = options{k + 1}; end
      end
      x = moreau_call('robot_evaluate', r.id, what, base, s, nu, f, frame, g);
    end
  end
end

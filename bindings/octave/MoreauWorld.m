classdef MoreauWorld < handle
  % MoreauWorld  A world of Moreau: rigid bodies with contact and friction.
  %
  %   w = MoreauWorld('scene.yaml')                   a scene file, or the name of a scene of the project: 'bounce'
  %   w = MoreauWorld('scene.yaml', 'time.step', 0.002, 'bodies.ball.mass', 2)
  %   w = MoreauWorld(struct('bodies', {{ ... }}))    a scene as a struct, with the words of docs/scene.md
  %
  %   w.step(100)        takes 100 steps; an error with the identifier moreau:notSolved when one is not solved
  %   w.q, w.v           generalised coordinates and velocities: assign to set them
  %   w.poses            n x 7: position [m] and quaternion w x y z of every body
  %   w.velocities       n x 6: velocity of the centre of mass [m/s], angular velocity [rad/s]
  %   w.contacts         m x 14: bodies, point, normal, gap, impulse, state (0 open, 1 sticks, 2 slides), friction
  %   w.info             struct: time, energies, penetration, state_hash ...
  %   w.apply(body, [force torque], point)            for the coming step; body: number or name
  %   s = w.save(); w.restore(s)                      continue bit for bit
  %   w.systems          cell of structs M, G, nu_free, bias, gap, mu ... of the last step
  %   w.onSolve(@f)      impulses = f(system) in place of the formulation
  %
  % SI units; bodies are counted from 1.
  properties (SetAccess = private)
    id = -1
  end
  properties (Dependent)
    q
    v
    poses
    velocities
    contacts
    info
    names
    time
    h
    systems
  end
  methods
    function w = MoreauWorld(scene, varargin)
      words = cell(1, numel(varargin) / 2);
      for k = 1:numel(words)
        value = varargin{2 * k};
        if ~ischar(value), value = jsonencode(value); end
        words{k} = [varargin{2 * k - 1} '=' value];
      end
      if isstruct(scene)
        if ~isfield(scene, 'moreau'), scene.moreau = 1; end
        w.id = moreau_call('load', [pwd '/scene'], jsonencode(scene), words, 1);
      else
        w.id = moreau_call('load', moreau_scene(scene), [], words, 1);
      end
    end
    function delete(w)
      try
        if w.id >= 0, moreau_mex('free', w.id); end
      catch
        % the program is ending: the worlds went with the mex file
      end
      w.id = -1;
    end
    function step(w, n)
      if nargin < 2, n = 1; end
      try
        moreau_mex('step', w.id, n); % not by moreau_call: that would cost as much as ten small steps
      catch problem
        moreau_raise(problem);
      end
    end
    function numbers = run(w, steps)
      numbers = jsondecode(moreau_call('run', w.id, steps));
    end
    function x = get.q(w), x = moreau_call('get', w.id, 'q'); end
    function set.q(w, x), moreau_call('set', w.id, 'q', x(:)); end
    function x = get.v(w), x = moreau_call('get', w.id, 'v'); end
    function set.v(w, x), moreau_call('set', w.id, 'v', x(:)); end
    function x = get.poses(w), x = moreau_call('get', w.id, 'poses'); end
    function set.poses(w, x), moreau_call('set', w.id, 'poses', x); end
    function x = get.velocities(w), x = moreau_call('get', w.id, 'velocities'); end
    function set.velocities(w, x), moreau_call('set', w.id, 'velocities', x); end
    function x = get.contacts(w), x = moreau_call('contacts', w.id); end
    function x = get.info(w), x = moreau_call('info', w.id); end
    function x = get.names(w), x = moreau_call('names', w.id); end
    function x = get.systems(w), x = moreau_call('systems', w.id); end
    function x = get.time(w), i = moreau_call('info', w.id); x = i.time; end
    function x = get.h(w), i = moreau_call('info', w.id); x = i.h; end
    function i = body(w, name)
      % the number of a body
      i = find(strcmp(w.names, name));
      if isempty(i), error('moreau:badInput', 'there is no body ''%s''', name); end
    end
    function apply(w, body, force, point)
      if nargin < 4, point = []; end
      if ischar(body), body = w.body(body); end
      force = force(:);
      if numel(force) == 3, force = [force; 0; 0; 0]; end
      moreau_call('apply', w.id, body, force, point);
    end
    function torque(w, robot, tau), moreau_call('torque', w.id, robot, tau(:)); end
    function s = save(w), s = moreau_call('save', w.id); end
    function restore(w, s), moreau_call('restore', w.id, s); end
    function setMethod(w, stage, name), moreau_call('set_option', w.id, stage, name); end
    function setOption(w, stage, option, value)
      if ~ischar(value), value = jsonencode(value); end
      moreau_call('set_option', w.id, stage, option, value);
    end
    function onSolve(w, f), moreau_call('on_solve', w.id, f); end
  end
end

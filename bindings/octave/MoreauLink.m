classdef MoreauLink < handle
  % MoreauLink  A controller in a process of its own: the other side of `moreau run SCENE --control unix:PATH`.
  %
  %   link = MoreauLink('arm.sock');                  waits up to 10 s for the simulator; MoreauLink(path, seconds)
  %   while link.next()
  %     link.send(200 * (target - link.s) - 20 * link.nu);
  %   end
  %
  % next() is false when the run is over. robot: whose turn it is, from 1; time [s]; base: position [m], quaternion; s: joint
  % positions [rad, m]; nu: velocities, of a floating base (6) first. docs/control-link.md has the messages.
  properties (SetAccess = private)
    id = -1
    robot = 0
    time = 0
    base = []
    s = []
    nu = []
    robots = struct('joints', {}, 'dof', {}, 'step', {}, 'floating', {})
  end
  methods
    function l = MoreauLink(path, timeout)
      if nargin < 2, timeout = 10; end
      l.id = moreau_call('link_open', path, timeout);
    end
    function more = next(l)
      while true
        [kind, l.robot, x] = moreau_call('link_read', l.id);
        if kind == 1
          l.robots(l.robot) = struct('joints', x(1), 'dof', x(2), 'step', x(3), 'floating', x(4) ~= 0);
          continue
        end
        more = kind == 2;
        if ~more, return, end
        n = l.robots(l.robot).joints;
        l.time = x(1);
        l.base = x(2:8);
        l.s = x(9:8 + n);
        l.nu = x(9 + n:end);
        return
      end
    end
    function send(l, tau), moreau_call('link_send', l.id, l.robot, tau(:)); end
    function close(l)
      if l.id >= 0, moreau_mex('link_close', l.id); end
      l.id = -1;
    end
    function delete(l)
      try
        l.close();
      catch
        % the program is ending: the links went with the mex file
      end
    end
  end
end

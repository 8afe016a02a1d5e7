function sim = sim_addJoint(sim, varargin)
  % sim = sim_addJoint(sim, type, body1, body2, position, direction)
  %
  % type: 'fixed' ('rigid'), 'revolute', 'prismatic', 'cylindrical', 'spherical', 'universal', 'planar'. Bodies are numbers;
  % position [m] and direction are in the world. The type may also stand last.
  text = find(cellfun(@ischar, varargin));
  if numel(text) ~= 1 || numel(varargin) < 4
    error('moreau:badInput', 'sim_addJoint(sim, type, body1, body2, position, direction)');
  end
  type = lower(varargin{text});
  varargin(text) = [];
  if strcmp(type, 'rigid'), type = 'fixed'; end
  if numel(varargin) < 4, varargin{4} = [0; 0; 1]; end
  joint = struct('type', type, 'body1id', varargin{1}, 'body2id', varargin{2}, 'pos', varargin{3}(:), ...
                 'dir', varargin{4}(:), 'jointID', numel(sim.joints) + 1, 'error', 0);
  if isempty(sim.joints), sim.joints = joint; else, sim.joints(end + 1) = joint; end
end

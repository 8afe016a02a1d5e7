% A controller in a process of its own, in plain Octave without any function of Moreau: holds every joint of a robot where it
% was. Octave has no sockets of its own, so the link is two named pipes:
%
%     moreau run plate_arm --control fifo:arm &
%     octave-cli examples/control/hold_plain.m arm
arguments = argv();
place = arguments{end};
latest = time() + 10;
while ~exist([place '.state']) && time() < latest, pause(0.01); end
in = fopen([place '.state'], 'r', 'ieee-le');
out = fopen([place '.torque'], 'w', 'ieee-le');
joints = [];
target = {};
while true
  magic = fread(in, 4, 'uint8=>char')';
  if numel(magic) < 4, break, end
  head = fread(in, 3, 'uint32');
  x = fread(in, head(3), 'double');
  robot = head(2) + 1;
  if head(1) == 4, break, end          % end
  if head(1) == 1                      % hello: joints, velocities, step, floating
    joints(robot) = x(1);
    target{robot} = [];
    continue
  end
  n = joints(robot);
  s = x(9:8 + n);
  nu = x(end - n + 1:end);
  if isempty(target{robot}), target{robot} = s; end
  fwrite(out, 'MOR1', 'uint8');
  fwrite(out, [3 head(2) n], 'uint32');
  fwrite(out, 200 * (target{robot} - s) - 20 * nu, 'double');
  fflush(out);
end
fprintf('held %d robot(s)\n', numel(target));

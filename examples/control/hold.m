% A controller in a process of its own, in Octave: holds every joint of a robot where it was.
%
%     moreau run plate_arm --control unix:arm.sock &
%     octave-cli --path build/octave/moreau examples/control/hold.m arm.sock
arguments = argv();
link = MoreauLink(arguments{end});
target = {};
while link.next()
  if numel(target) < link.robot || isempty(target{link.robot}), target{link.robot} = link.s; end
  joints = link.nu(end - numel(link.s) + 1:end);
  link.send(200 * (target{link.robot} - link.s) - 20 * joints);
end
fprintf('held %d robot(s)\n', numel(target));

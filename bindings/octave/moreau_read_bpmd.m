function frames = moreau_read_bpmd(path)
  % frames = moreau_read_bpmd('problems.h5')   frames of a BPMD file (docs/bpmd.md) as a struct array
  %
  % Each frame has a name and data, the groups of the file as fields: timestep, bodies, contacts, solutions ... A column
  % belongs to a body or a contact. moreau_bpmd_problem makes W, q and mu of a frame; answers go back with
  % moreau_write_answer.
  if exist('OCTAVE_VERSION', 'builtin')
    data = load('-hdf5', path);
  else
    error('moreau:badInput', 'in MATLAB read the file with h5read: the names are those of docs/bpmd.md');
  end
  names = sort(fieldnames(data));
  names = names(strncmp(names, 'mbs_frame', 9));
  frames = struct('name', {}, 'data', {});
  for k = 1:numel(names)
    frames(k).name = names{k};
    frames(k).data = data.(names{k});
  end
end

function path = moreau_scene(name)
  % path = moreau_scene('bounce')   The file of a scene of the project; a path stays what it is.
  %
  % Looked for in the folder of the environment variable MOREAU_SCENES, then in the project these functions lie in.
  path = name;
  if ~ischar(name) || isempty(name) || any(name == '/' | name == '.' | name == '*') || exist(name, 'file'), return, end
  here = fileparts(mfilename('fullpath'));
  for folder = {getenv('MOREAU_SCENES'), [here '/../../scenes'], [here '/../../../scenes']}
    if isempty(folder{1}), continue, end
    found = [dir([folder{1} '/' name '.yaml']); dir([folder{1} '/*/' name '.yaml'])];
    if ~isempty(found)
      path = [found(1).folder '/' found(1).name];
      return
    end
  end
end

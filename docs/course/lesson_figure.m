function lesson_figure(name)
  % lesson_figure() opens a figure, lesson_figure('lesson1') shows what was drawn. With the environment variable
  % MOREAU_FIGURES, a folder, it is written there as a picture and closed: for runs without a display.
  folder = getenv('MOREAU_FIGURES');
  octave = exist('OCTAVE_VERSION', 'builtin') > 0;
  hidden = ~isempty(folder) || (octave && isempty(getenv('DISPLAY')));
  before = warning('off', 'all'); % what Octave thinks of gnuplot does not belong into a lesson
  if nargin < 1
    if hidden, figure('visible', 'off'); else, figure(); end
  elseif ~isempty(folder)
    path = [folder '/' name '.png'];
    if octave && strcmp(graphics_toolkit(), 'gnuplot'), drawnow('pngcairo', path);
    else, print(path, '-dpng', '-r80'); end
    close(gcf);
  elseif ~hidden
    drawnow();
  end
  warning(before);
end

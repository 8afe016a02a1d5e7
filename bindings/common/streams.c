/* The three standard streams for modules that hold qhull's archive.
 *
 * The archive is compiled for programs, not for shared objects: it takes stdin, stdout and stderr by addresses that a
 * shared object cannot give. The linker turns these names into the ones below (--wrap, cmake/bindings.cmake). The
 * library never lets qhull print, so they stay NULL but for the errors qhull itself could not hand back. */
#include <stdio.h>

extern FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;
FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;

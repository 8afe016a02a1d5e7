/* One function per subcommand (those of the laboratory are in cli/lab/commands.h); argv[0] is the subcommand's own name. Each returns the exit status:
 * 0 success, 1 the method failed on the problem, 2 bad usage or input, 3 the system failed. */
#ifndef MOREAU_CLI_CLI_H
#define MOREAU_CLI_CLI_H

#include "moreau/moreau.h"
#include "moreau/plugin.h"

int mor_cli_run(int argc, char** argv);
int mor_cli_solve(int argc, char** argv);
int mor_cli_robot(int argc, char** argv);
int mor_cli_list(int argc, char** argv);

/* Takes every `--plugin FILE.so` out of the arguments and loads it; 0 or the exit status. */
int mor_cli_plugins(int* argc, char** argv);
/* The built-in methods and those of plug-ins; NULL: only built-in ones. */
const mor_library* mor_cli_library(void);
/* The error measure of a plug-in, or NULL. */
mor_plugin_error mor_cli_error_function(const char** name);

/* "moreau: text" on stderr; returns the code, which is the exit status. */
int mor_cli_fail(const mor_error* error);
/* "moreau run: ..." and a hint at --help; returns 2. */
int mor_cli_usage(const char* command, const char* format, ...) MOR_PRINTF(2, 3);

/* Where `name` is: itself if it is a file, else name or name.yaml in the scenes that came with the program. Writes at
 * most size bytes; returns `path`. */
const char* mor_cli_scene_path(const char* name, char* path, size_t size);
/* The directory of those scenes, "" if there is none. */
const char* mor_cli_scene_directory(char* path, size_t size);

#endif

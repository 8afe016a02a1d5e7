/* One function per subcommand (those of the laboratory are in cli/lab/commands.h); argv[0] is the subcommand's own
 * name. Each returns the exit status: 0 success, 1 the method failed on the problem, 2 bad usage or input, 3 the system
 * failed. */
#ifndef MOREAU_CLI_CLI_H
#define MOREAU_CLI_CLI_H

#include "moreau/moreau.h"
#include "moreau/plugin.h"

int mor_cli_run(int argc, char** argv);
int mor_cli_new(int argc, char** argv);
int mor_cli_doctor(int argc, char** argv);
int mor_cli_solve(int argc, char** argv);
int mor_cli_robot(int argc, char** argv);
int mor_cli_convert(int argc, char** argv);
int mor_cli_derivative(int argc, char** argv);
int mor_cli_optimise(int argc, char** argv);
int mor_cli_list(int argc, char** argv);
int mor_cli_export_fmu(int argc, char** argv);

/* What a command does, in a few words; "" if there is none of that name. */
const char* mor_cli_summary(const char* command);
/* Takes every `--plugin FILE.so` out of the arguments and loads it; 0 or the exit status. */
int mor_cli_plugins(int* argc, char** argv);
/* The built-in methods and those of plug-ins; NULL: only built-in ones. */
const mor_library* mor_cli_library(void);
/* The error measure of a plug-in, or NULL. */
mor_plugin_error mor_cli_error_function(const char** name);

/* From here on an allocation of less than 16 MB that fails ends the program: "moreau: out of memory", exit status 3. */
void mor_cli_watch_memory(void);
/* "moreau: text" on stderr; returns the code, which is the exit status. A text that begins with a file that is not
 * there names a similar one beside it; one about the value of an option (--set KEY=VALUE:1:20) names that option. */
int mor_cli_fail(const mor_error* error);
/* The same, "moreau COMMAND: text". */
int mor_cli_fail_in(const char* command, const mor_error* error);
/* The file beside `asked`, which is not there, whose name is nearest to it; "" if none is near. `models`: only scenes
 * and robots. */
void mor_cli_near_file(const char* asked, bool models, char* near, size_t size);
/* "moreau run: ..." and a hint at --help; returns 2. */
int mor_cli_usage(const char* command, const char* format, ...) MOR_PRINTF(2, 3);

/* The path of a file that was named on the command line: itself, or that of standard input for `-`, which can then be
 * opened as often as wanted. */
const char* mor_cli_file(const char* name);
/* Where `name` is: itself if it is a file, else name or name.yaml in the scenes that came with the program, in any of
 * their folders. Writes at most size bytes; returns `path`. */
const char* mor_cli_scene_path(const char* name, char* path, size_t size);
/* The directory of those scenes, "" if there is none. */
const char* mor_cli_scene_directory(char* path, size_t size);

/* One of those scenes. */
typedef struct mor_cli_scene {
    char name[64];     /* without folder and ending */
    char same_as[64];  /* the scene that this is another name of, "" for the scene itself */
    char folder[64];   /* what it is for; "." outside of the folders */
    char summary[256]; /* the first line of the file */
    char path[4600];
} mor_cli_scene;

/* All of them, sorted by name; free() the list. NULL: there are none. */
mor_cli_scene* mor_cli_scenes(int* count);
/* Like mor_cli_fail for a scene that could not be loaded: says a similar name if there is no such file. */
int mor_cli_no_scene(const char* asked, const mor_error* error);
/* Takes the scene of a command that has one: 0, or that of mor_cli_usage for a second. */
int mor_cli_one_scene(const char* command, const char** scene, const char* word);

#endif

/* The files that a command line names: none is read and written, none is written twice. */
#ifndef MOREAU_CLI_NAMED_FILES_H
#define MOREAU_CLI_NAMED_FILES_H

enum { MOR_CLI_MOST_OUTPUTS = 8 };

typedef struct mor_cli_named_files {
    const char** inputs; /* the caller's, with room for all */
    int input_count;
    struct {
        const char *option, *name;
    } outputs[MOR_CLI_MOST_OUTPUTS];
    int output_count;
} mor_cli_named_files;

/* 0, or 2 after a message of the command. Devices, pipes, folders and `-` may be named as often as one likes. */
int mor_cli_check_files(const char* command, const mor_cli_named_files* files);

#endif

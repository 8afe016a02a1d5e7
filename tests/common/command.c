/* The command from outside, see command.h. */
#include "common/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

char command_output[1 << 16], command_errors[1 << 16];
static char folder[] = "/tmp/moreau_outside_XXXXXX";

int command_open(void** state)
{
    (void)state;
    strcpy(folder, "/tmp/moreau_outside_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

int command_close(void** state)
{
    (void)state;
    char remove_all[64];
    snprintf(remove_all, sizeof remove_all, "rm -rf %s", folder);
    return system(remove_all);
}

const char* command_at(const char* name)
{
    static char paths[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(paths[next], sizeof paths[next], "%s/%s", folder, name);
    return paths[next];
}

static void slurp(const char* name, char* text, size_t size)
{
    FILE* f = fopen(command_at(name), "r");
    assert_non_null(f);
    text[fread(text, 1, size - 1, f)] = 0;
    fclose(f);
}

int command_run(const char* line)
{
    char all[8192];
    snprintf(all, sizeof all, "cd %s && M='%s' && S='%s' && { %s ; } >out 2>err </dev/null", folder, MOREAU_COMMAND,
             MOREAU_SOURCE_DIR, line);
    int status = system(all);
    slurp("out", command_output, sizeof command_output);
    slurp("err", command_errors, sizeof command_errors);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_run_all(const char* const* lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (command_run(lines[i]) != 0) {
            print_error("%s\n%s%s", lines[i], command_output, command_errors);
            return -1;
        }
    return 0;
}

void command_expect(const char* line, int status, const char* says)
{
    int got = command_run(line);
    if (got != status || (says && !strstr(command_errors, says)))
        fail_msg("'%s' exits with %d, expected %d and '%s'\n%.2000s%.2000s", line, got, status, says ? says : "",
                 command_output, command_errors);
}

/* Options of the commands as tables: parsing, range checks, messages and --help come from the same lines. */
#ifndef MOREAU_CLI_OPTIONS_H
#define MOREAU_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum mor_cli_type {
    MOR_CLI_FLAG,   /* bool; no value */
    MOR_CLI_TEXT,   /* const char* */
    MOR_CLI_NUMBER, /* double from min to max */
    MOR_CLI_WHOLE,  /* int from min to max */
    MOR_CLI_CHOICE, /* int: which of the words in `expected`, separated by | */
    MOR_CLI_SET,    /* mor_cli_sets: KEY=VALUE, or the value of `key` */
    MOR_CLI_CALL    /* `take` reads it */
} mor_cli_type;

/* One option. A line with the name "" is a heading of --help; the table ends with the name NULL. */
typedef struct mor_cli_option {
    const char* name;     /* "--step" */
    const char* argument; /* "H": its value in --help; NULL for flags */
    const char* help;
    mor_cli_type type;
    size_t offset; /* of the variable in the command's struct */
    double min, max;
    const char* expected; /* of the value: "seconds" in "--time x: expected seconds"; choices: "cold|warm" */
    const char* key;      /* MOR_CLI_SET: the key in the scene */
    const char* alias;    /* "-o" */
    /* MOR_CLI_CALL: 0 or the exit status, after saying why. `value` is the word of argv and may be changed. */
    int (*take)(void* arguments, char* value);
    bool writes; /* the value names a file that is written: never one that is read or written otherwise */
    bool reads;  /* a file that is read, as words that are no options are */
} mor_cli_option;

typedef struct mor_cli_command {
    const char* name;
    const char* usage; /* what follows "moreau NAME"; several forms: one line each */
    const char* about; /* printed as it is, before the options */
    const mor_cli_option* options;
    const char* more;                            /* printed as it is, after them; may be NULL */
    int (*operand)(void* arguments, char* word); /* takes a word that is no option; NULL: there are none */
    void (*print_more)(FILE* out);               /* after `more`; may be NULL */
} mor_cli_command;

/* The same option of every command that may take long: a double in its struct. */
#define MOR_CLI_TIME_LIMIT(at)                                                                                         \
    {                                                                                                                  \
        "--time-limit", "SECONDS", "stop after so many seconds on the clock, with exit status 1; default: none",       \
            MOR_CLI_NUMBER, at, .min = 1e-3, .max = 1e9, .expected = "seconds, from 0.001"                             \
    }

/* Values for the scene from --set and its abbreviations, in the order given. */
enum { MOR_CLI_MOST_SETS = 256, MOR_CLI_SHORT_SETS = 16 };
typedef struct mor_cli_sets {
    const char* items[MOR_CLI_MOST_SETS + 1]; /* KEY=VALUE; ends with NULL */
    int count, stored;
    char storage[MOR_CLI_SHORT_SETS][256];
} mor_cli_sets;

/* A message about "--set KEY=VALUE:LINE:COLUMN: ..." in the words of the user, "--solver VALUE: ...", if an abbreviation
 * of --set gave it; else `text` itself. */
enum { MOR_CLI_SHORT_TEXT = 4096 };
const char* mor_cli_short_text(const char* text, char* out);

/* Returned by a command instead of an exit status: --help was printed, there is nothing to do. */
enum { MOR_CLI_DONE = -1 };

/* Reads argv[1] ... into the command's struct, which holds the defaults: `--name value`, `--name=value`, words, and
 * words only after `--`. 0, the exit status 2 after a message, or MOR_CLI_DONE. */
int mor_cli_parse(const mor_cli_command* command, int argc, char** argv, void* arguments);
/* Options of every command, at the end of its own. */
extern const mor_cli_option mor_cli_common[];
/* The help of a command on standard output: "text" for people, "table" (one line per option, separated by tabs: name,
 * alias, argument, help, values) for programs, "man" (mdoc) and "markdown" for its pages. False: no such form. */
bool mor_cli_print_help(const mor_cli_command* command, const char* form);
/* The first lines of --help. */
void mor_cli_print_usage(const mor_cli_command* command, FILE* out);
/* "I/N", I from 1 to N, of --shard: 0, or 2 after a message. */
int mor_cli_read_shard(const char* command, const char* text, int* shard, int* shards);
/* The whole text is one finite number. */
bool mor_cli_number(const char* text, double* value);
/* "unknown WHAT 'word', did you mean 'near'?": at the end of a message about a word that is none of `known`. Returns 2.
 * */
int mor_cli_unknown(const char* command, const char* what, const char* word, const char* const* known);

#endif

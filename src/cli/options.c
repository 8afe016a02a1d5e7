/* Options of the commands, see options.h; their help is in help.c. */
#include "cli/options.h"
#include "cli/cli.h"
#include "cli/named_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 64 };

const mor_cli_option mor_cli_common[] = {
    { "--plugin", "FILE.so", "adds methods of your own (docs/tutorials/your-solver.md); may be repeated",
      .type = MOR_CLI_TEXT },
    { "--help", NULL, "this text", .type = MOR_CLI_FLAG, .alias = "-h" },
    { .name = NULL },
};

/* --------------------------------------------------------------------------------- parsing */

bool mor_cli_number(const char* text, double* value)
{
    char* end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

int mor_cli_unknown(const char* command, const char* what, const char* word, const char* const* known)
{
    const char* near = mor_did_you_mean(word, known);
    return near ? mor_cli_usage(command, "unknown %s '%s', did you mean '%s'?", what, word, near)
                : mor_cli_usage(command, "unknown %s '%s'", what, word);
}

static int unknown_option(const mor_cli_command* c, const char* name)
{
    const char* known[MOST_OPTIONS + 1] = { 0 };
    int n = 0;
    const mor_cli_option* tables[] = { c->options, mor_cli_common };
    for (int t = 0; t < 2; t++)
        for (const mor_cli_option* o = tables[t]; o->name && n < MOST_OPTIONS; o++)
            if (*o->name) known[n++] = o->name;
    return mor_cli_unknown(c->name, "option", name, known);
}

static const mor_cli_option* find(const mor_cli_option* options, const char* name, size_t length)
{
    for (const mor_cli_option* o = options; o->name; o++)
        if ((*o->name && strlen(o->name) == length && strncmp(o->name, name, length) == 0) ||
            (o->alias && strlen(o->alias) == length && strncmp(o->alias, name, length) == 0))
            return o;
    return NULL;
}

/* Number of the word in "a|b|c", -1: none. */
static int which(const char* words, const char* word)
{
    size_t length = strlen(word);
    for (int k = 0; *words; k++) {
        size_t n = strcspn(words, "|");
        if (n == length && strncmp(words, word, n) == 0) return k;
        words += n + (words[n] == '|');
    }
    return -1;
}

/* What abbreviations of --set gave: for messages about their values. */
static struct {
    const char *option, *set; /* --solver, method.solver.name=VALUE */
    size_t key;               /* length of the key */
} shorts[MOR_CLI_SHORT_SETS];
static int short_count;

const char* mor_cli_short_text(const char* text, char* out)
{
    const char* start = "--set ";
    if (strncmp(text, start, strlen(start)) != 0) return text;
    const char* set = text + strlen(start);
    for (int i = 0; i < short_count; i++) {
        size_t length = strlen(shorts[i].set), place;
        if (strncmp(set, shorts[i].set, length) != 0 || set[length] != ':') continue;
        place = strspn(set + length, ":0123456789"); /* line and column */
        snprintf(out, MOR_CLI_SHORT_TEXT, "%s %s:%s", shorts[i].option, shorts[i].set + shorts[i].key + 1,
                 set + length + place);
        return out;
    }
    return text;
}

static int add_set(const mor_cli_command* c, const mor_cli_option* o, mor_cli_sets* sets, const char* value)
{
    if (!o->key && !strchr(value, '=')) return mor_cli_usage(c->name, "%s %s: expected KEY=VALUE", o->name, value);
    if (sets->count == MOR_CLI_MOST_SETS || (o->key && sets->stored == MOR_CLI_SHORT_SETS))
        return mor_cli_usage(c->name, "too many %s", o->name);
    if (!o->key) {
        sets->items[sets->count++] = value;
        return 0;
    }
    char* text = sets->storage[sets->stored++];
    if (snprintf(text, sizeof sets->storage[0], "%s=%s", o->key, value) >= (int)sizeof sets->storage[0])
        return mor_cli_usage(c->name, "%s: the value is too long", o->name);
    sets->items[sets->count++] = text;
    if (short_count < MOR_CLI_SHORT_SETS) {
        shorts[short_count].option = o->name, shorts[short_count].set = text;
        shorts[short_count++].key = strlen(o->key);
    }
    return 0;
}

static int take(const mor_cli_command* c, const mor_cli_option* o, char* value, void* arguments)
{
    void* to = (char*)arguments + o->offset;
    double x = 0.0;
    int k = 0;
    switch (o->type) {
    case MOR_CLI_FLAG:
        *(bool*)to = true;
        return 0;
    case MOR_CLI_TEXT:
        *(const char**)to = value;
        return 0;
    case MOR_CLI_NUMBER:
    case MOR_CLI_WHOLE:
        if (!mor_cli_number(value, &x) || x < o->min || x > o->max || (o->type == MOR_CLI_WHOLE && x != floor(x)))
            return mor_cli_usage(c->name, "%s %s: expected %s", o->name, value, o->expected);
        if (o->type == MOR_CLI_WHOLE) *(int*)to = (int)x;
        else *(double*)to = x;
        return 0;
    case MOR_CLI_CHOICE:
        k = which(o->expected, value);
        if (k < 0) return mor_cli_usage(c->name, "%s %s: expected %s", o->name, value, o->expected);
        *(int*)to = k;
        return 0;
    case MOR_CLI_SET:
        return add_set(c, o, to, value);
    case MOR_CLI_CALL:
        break;
    }
    return o->take(arguments, value);
}

/* argv[*i] is an option; moves *i past its value. */
static int take_option(const mor_cli_command* c, int argc, char** argv, int* i, void* arguments,
                       mor_cli_named_files* files)
{
    char *word = argv[*i], *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    if (find(mor_cli_common, word, length) == &mor_cli_common[1]) {
        if (!mor_cli_print_help(c, equals ? equals + 1 : "text"))
            return mor_cli_usage(c->name, "%s: expected --help, or --help=table, man or markdown", word);
        return MOR_CLI_DONE;
    }
    const mor_cli_option* o = find(c->options, word, length);
    if (!o) {
        if (equals) *equals = '\0';
        return unknown_option(c, word);
    }
    if (o->type == MOR_CLI_FLAG && equals) return mor_cli_usage(c->name, "%s takes no value", o->name);
    if (o->type == MOR_CLI_FLAG) return take(c, o, NULL, arguments);
    if (!equals && *i + 1 == argc) return mor_cli_usage(c->name, "%s needs a value", word);
    char* value = equals ? equals + 1 : argv[++*i];
    if (o->reads) files->inputs[files->input_count++] = value;
    if (o->writes && !*value) return mor_cli_usage(c->name, "%s: the name of the file is empty", o->name);
    if (o->writes && files->output_count < MOR_CLI_MOST_OUTPUTS) {
        files->outputs[files->output_count].option = o->name;
        files->outputs[files->output_count++].name = value;
    }
    return take(c, o, value, arguments);
}

int mor_cli_parse(const mor_cli_command* c, int argc, char** argv, void* arguments)
{
    bool words_only = false;
    int status = 0;
    mor_cli_named_files files = { .inputs = calloc((size_t)argc + 1, sizeof *files.inputs) };
    if (!files.inputs) {
        fprintf(stderr, "moreau: out of memory\n");
        return 3;
    }
    for (int i = 1; i < argc && !status; i++) {
        char* word = argv[i];
        if (!words_only && strcmp(word, "--") == 0) words_only = true;
        else if (!words_only && word[0] == '-' && word[1]) status = take_option(c, argc, argv, &i, arguments, &files);
        else if (c->operand) {
            files.inputs[files.input_count++] = word;
            status = c->operand(arguments, word);
        } else status = mor_cli_usage(c->name, "unexpected '%s'", word);
    }
    if (!status) status = mor_cli_check_files(c->name, &files);
    free(files.inputs);
    return status;
}

int mor_cli_read_shard(const char* command, const char* text, int* shard, int* shards)
{
    char* end;
    long i = strtol(text, &end, 10), n = 0;
    if (end != text && *end == '/') {
        char* rest = end + 1;
        n = strtol(rest, &end, 10);
        if (end == rest) n = 0;
    }
    if (*end || n < 1 || n > 1000000 || i < 1 || i > n)
        return mor_cli_usage(command, "--shard %s: expected i/n, with i from 1 to n", text);
    *shard = (int)i, *shards = (int)n;
    return 0;
}

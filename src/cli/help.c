/* The help of a command from its table of options, in four forms (options.h): text, table, man (mdoc), markdown.
 *
 * The manual pages (docs/man), docs/commands.md and the completions of the shells (completions/) are made of these by
 * scripts/make-manuals; a test compares. */
#include "cli/cli.h"
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

enum { HELP_WIDTH = 110, TABLES = 2 };

typedef const mor_cli_option* option_tables[TABLES];

/* ------------------------------------------------------------------------------------ text */

static int label_width(const mor_cli_option* o)
{
    return (int)(strlen(o->name) + (o->alias ? strlen(o->alias) + 2 : 0) + (o->argument ? strlen(o->argument) + 1 : 0));
}

/* Words of `text`, broken before `width` columns; lines after the first are indented. */
static void print_wrapped(const char* text, int indent, int width)
{
    int column = indent;
    for (const char* p = text; *p;) {
        int n = (int)strcspn(p, " ");
        if (column > indent && column + 1 + n > width) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        if (column > indent) putchar(' '), column++;
        printf("%.*s", n, p);
        column += n;
        p += n;
        while (*p == ' ') p++;
    }
    putchar('\n');
}

static void print_option(const mor_cli_option* o, int indent)
{
    if (!*o->name) {
        puts(o->help);
        return;
    }
    printf("  %s%s%s%s%s%*s", o->alias ? o->alias : "", o->alias ? ", " : "", o->name, o->argument ? " " : "",
           o->argument ? o->argument : "", indent - 2 - label_width(o), "");
    print_wrapped(o->help, indent, HELP_WIDTH);
}

void mor_cli_print_usage(const mor_cli_command* c, FILE* out)
{
    const char* line = c->usage;
    for (bool first = true; *line; first = false) {
        int n = (int)strcspn(line, "\n");
        fprintf(out, "%s moreau %s %.*s\n", first ? "usage:" : "      ", c->name, n, line);
        line += n + (line[n] == '\n');
    }
}

static void print_text(const mor_cli_command* c, const option_tables tables)
{
    int widest = 0;
    for (int t = 0; t < TABLES; t++)
        for (const mor_cli_option* o = tables[t]; o->name; o++)
            if (*o->name && label_width(o) > widest) widest = label_width(o);
    mor_cli_print_usage(c, stdout);
    printf("\n%s\n", c->about);
    for (int t = 0; t < TABLES; t++)
        for (const mor_cli_option* o = tables[t]; o->name; o++) print_option(o, widest + 4);
    if (c->more) printf("\n%s", c->more);
    if (c->print_more) c->print_more(stdout);
}

/* ----------------------------------------------------------------------------------- table */

static void print_table(const mor_cli_command* c, const option_tables tables)
{
    (void)c;
    for (int t = 0; t < TABLES; t++)
        for (const mor_cli_option* o = tables[t]; o->name; o++)
            if (*o->name)
                printf("%s\t%s\t%s\t%s\t%s\n", o->name, o->alias ? o->alias : "", o->argument ? o->argument : "",
                       o->help, o->type == MOR_CLI_CHOICE ? o->expected : "");
}

/* ------------------------------------------------------------------------------------- man */

/* Text as roff wants it: no line begins with a dot or an apostrophe, backslashes are written out. */
static void print_roff(const char* text)
{
    bool begins = true;
    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (*text == '\\') fputs("\\e", stdout);
        else if (*text == '-') fputs("\\-", stdout);
        else putchar(*text);
        begins = *text == '\n';
    }
    if (!begins) putchar('\n');
}

static void print_man(const mor_cli_command* c, const option_tables tables)
{
    printf(".Dd\n.Dt MOREAU-");
    for (const char* p = c->name; *p; p++) putchar(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    printf(" 1\n.Os Moreau %s\n.Sh NAME\n.Nm moreau-%s\n.Nd ", mor_version(), c->name);
    print_roff(mor_cli_summary(c->name));
    printf(".Sh SYNOPSIS\n.Bd -literal -compact\n");
    for (const char* line = c->usage; *line;) {
        int n = (int)strcspn(line, "\n");
        printf("moreau %s %.*s\n", c->name, n, line);
        line += n + (line[n] == '\n');
    }
    printf(".Ed\n.Sh DESCRIPTION\n.Bd -literal -compact\n");
    print_roff(c->about);
    printf(".Ed\n.Sh OPTIONS\n.Bl -tag -width Ds\n");
    for (int t = 0; t < TABLES; t++) {
        for (const mor_cli_option* o = tables[t]; o->name; o++) {
            if (!*o->name) continue;
            printf(".It ");
            if (o->alias) printf("Fl %s , ", o->alias + 1);
            printf("Fl %s", o->name + 1);
            if (o->argument) printf(" Ar %s", o->argument);
            putchar('\n');
            print_roff(o->help);
        }
    }
    puts(".El");
    if (c->more || c->print_more) {
        fflush(stdout);
        printf(".Sh NOTES\n.Bd -literal -compact\n");
        if (c->more) print_roff(c->more);
        if (c->print_more) c->print_more(stdout);
        puts(".Ed");
    }
    printf(".Sh EXIT STATUS\n0 success, 1 the method failed on the problem, 2 bad usage or input, 3 the system "
           "failed.\n.Sh SEE ALSO\n.Xr moreau 1\n");
}

/* -------------------------------------------------------------------------------- markdown */

static void print_markdown(const mor_cli_command* c, const option_tables tables)
{
    printf("## moreau %s\n\n%s.\n\n```\n", c->name, mor_cli_summary(c->name));
    mor_cli_print_usage(c, stdout);
    printf("\n%s```\n\n| option | |\n|---|---|\n", c->about);
    for (int t = 0; t < TABLES; t++) {
        for (const mor_cli_option* o = tables[t]; o->name; o++) {
            if (!*o->name) continue;
            printf("| `%s%s%s", o->alias ? o->alias : "", o->alias ? ", " : "", o->name);
            if (o->argument) putchar(' ');
            for (const char* p = o->argument ? o->argument : ""; *p; p++) printf(*p == '|' ? "\\|" : "%c", *p);
            fputs("` | ", stdout);
            for (const char* p = o->help; *p; p++) printf(*p == '|' ? "\\|" : "%c", *p);
            puts(" |");
        }
    }
    if (c->more || c->print_more) {
        printf("\n```\n%s", c->more ? c->more : "");
        if (c->print_more) c->print_more(stdout);
        puts("```");
    }
}

bool mor_cli_print_help(const mor_cli_command* command, const char* form)
{
    static const struct {
        const char* name;
        void (*print)(const mor_cli_command*, const option_tables);
    } forms[] = {
        { "text", print_text }, { "table", print_table }, { "man", print_man }, { "markdown", print_markdown }
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(form, forms[i].name) != 0) continue;
        forms[i].print(command, (option_tables){ command->options, mor_cli_common });
        return true;
    }
    return false;
}

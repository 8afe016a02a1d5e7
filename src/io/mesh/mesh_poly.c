/* RPIsim .poly files.
 *
 * Lines that are not blank after comments (#, %, // to the end of the line) are, in order: the number
 * of vertices n; n vertices "x y z" or "index x y z" (the first one decides); the number of faces m; m
 * lines of three or more vertex numbers, counter-clockwise from outside. The characters [ ] ; = : , are
 * blanks and words are labels, as the original reader had it. Values are arithmetic expressions with
 * + - * / ^ ( ), sqrt and pi: (2/3)^0.5 and 1e-3. Vertices are counted from 1, or from 0 when a 0
 * occurs as an index or vertex number.
 *
 * Grammar, by descent:  sum = product {(+|-) product};  product = signed {(*|/) signed};
 * signed = [+|-] signed | power;  power = atom {^ signed-atom}, from the left as in Matlab. */
#include "base/elementary.h"
#include "base/number.h"
#include "io/mesh/mesh.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 32, NUMBERS_MAX = 4096 };

typedef struct expression {
    const char *at, *end;
    int depth;
    bool wrong;
} expression;

static double sum(expression* e);

static void skip_blanks(expression* e)
{
    while (e->at < e->end && isspace((unsigned char)*e->at)) e->at++;
}

static bool accept(expression* e, char c)
{
    skip_blanks(e);
    if (e->at >= e->end || *e->at != c) return false;
    e->at++;
    return true;
}

static double atom(expression* e)
{
    skip_blanks(e);
    bool root = e->end - e->at > 4 && strncmp(e->at, "sqrt", 4) == 0;
    if (root) e->at += 4;
    if (accept(e, '(')) {
        double v = 0.0;
        if (++e->depth > NESTING_MAX) e->wrong = true;
        else v = sum(e);
        e->depth--;
        if (!accept(e, ')')) e->wrong = true;
        return root ? sqrt(v) : v;
    }
    if (!root && e->end - e->at >= 2 && strncmp(e->at, "pi", 2) == 0) {
        e->at += 2;
        return 3.14159265358979323846;
    }
    /* digits only: strtod would also take "inf", "nan" and hexadecimal numbers */
    char* end = NULL;
    if (root || e->at >= e->end || !(isdigit((unsigned char)*e->at) || *e->at == '.')) {
        e->wrong = true;
        return 0.0;
    }
    double v = mor_strtod(e->at, &end);
    if (end == e->at || end > e->end) e->wrong = true;
    else e->at = end;
    return v;
}

static double signed_atom(expression* e)
{
    double sign = 1.0;
    while (!e->wrong) {
        if (accept(e, '-')) sign = -sign;
        else if (!accept(e, '+')) break;
    }
    return sign * atom(e);
}

static double power(expression* e)
{
    double v = atom(e);
    while (!e->wrong && accept(e, '^')) v = mor_pow(v, signed_atom(e));
    return v;
}

static double signed_power(expression* e)
{
    double sign = 1.0;
    for (;;) {
        if (accept(e, '-')) sign = -sign;
        else if (!accept(e, '+')) return sign * power(e);
    }
}

static double product(expression* e)
{
    double v = signed_power(e);
    while (!e->wrong) {
        if (accept(e, '*')) v *= signed_power(e);
        else if (accept(e, '/')) v /= signed_power(e);
        else break;
    }
    return v;
}

static double sum(expression* e)
{
    double v = product(e);
    while (!e->wrong) {
        if (accept(e, '+')) v += product(e);
        else if (accept(e, '-')) v -= product(e);
        else break;
    }
    return v;
}

typedef struct poly {
    mor_mesh_file* file;
    mor_lines lines;
    double* numbers; /* of the current line */
    int* columns;
    int count;
} poly;

static mor_code wrong(const poly* p, int column, const char* what)
{
    return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, column, "%s", what);
}

/* Blanks out comments and punctuation; the text is ours to change. */
static void clean_line(mor_lines* lines)
{
    char* s = (char*)lines->line_begin;
    for (; s < lines->line_end; s++) {
        if (*s == '#' || *s == '%' || (*s == '/' && s + 1 < lines->line_end && s[1] == '/')) {
            memset(s, ' ', (size_t)(lines->line_end - s));
            return;
        }
        if (*s && strchr("[];=:,", *s)) *s = ' ';
    }
}

/* The expression that begins at s ends at the first blank outside parentheses. */
static const char* expression_end(const char* s, const char* end)
{
    int depth = 0;
    for (; s < end; s++) {
        if (*s == '(') depth++;
        else if (*s == ')') depth--;
        else if (depth <= 0 && isspace((unsigned char)*s)) break;
    }
    return s;
}

/* Skips a label: letters that are not sqrt, pi. */
static const char* skip_label(const char* s, const char* end)
{
    const char* w = s;
    while (w < end && (isalpha((unsigned char)*w) || *w == '_')) w++;
    bool known = (w - s == 4 && strncmp(s, "sqrt", 4) == 0) || (w - s == 2 && strncmp(s, "pi", 2) == 0);
    return known ? s : w;
}

/* The next line with numbers on it; MOR_OK with count 0 at the end of the file. */
static mor_code next_numbers(poly* p)
{
    p->count = 0;
    while (p->count == 0 && mor_lines_next(&p->lines)) {
        clean_line(&p->lines);
        const char *s = p->lines.line_begin, *end = p->lines.line_end;
        for (;;) {
            while (s < end && isspace((unsigned char)*s)) s++;
            const char* label = skip_label(s, end);
            if (label > s) {
                s = label;
                continue;
            }
            if (s >= end) break;
            int column = (int)(s - p->lines.line_begin) + 1;
            expression e = { s, expression_end(s, end), 0, false };
            s = e.end;
            double v = sum(&e);
            if (e.wrong || e.at != e.end)
                return wrong(p, (int)(e.at - p->lines.line_begin) + 1,
                             "not a number or an expression such as (2/3)^0.5");
            if (!isfinite(v)) return wrong(p, column, "this value is not finite");
            if (p->count == NUMBERS_MAX) return wrong(p, column, "too many numbers on one line");
            p->numbers[p->count] = v;
            p->columns[p->count++] = column;
        }
    }
    return MOR_OK;
}

static mor_code read_count(poly* p, const char* what, int* n)
{
    mor_code code = next_numbers(p);
    if (code != MOR_OK) return code;
    if (p->count == 0)
        return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, 1,
                           "the file ends where the number of %s should be", what);
    if (p->count != 1)
        return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, p->columns[1],
                           "%d numbers where the number of %s should be alone on its line (wrong count before it?)",
                           p->count, what);
    if (p->numbers[0] != floor(p->numbers[0]) || p->numbers[0] < 4 || p->numbers[0] > 1e7)
        return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, p->columns[0],
                           "%g is not a number of %s; a solid has at least 4", p->numbers[0], what);
    *n = (int)p->numbers[0];
    return MOR_OK;
}

static mor_code read_vertices(poly* p, int n, int* base)
{
    bool numbered = false;
    *base = -1;
    for (int i = 0; i < n; i++) {
        mor_code code = next_numbers(p);
        if (code != MOR_OK) return code;
        if (p->count == 0)
            return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, 1,
                               "the file ends after %d of %d vertices", i, n);
        if (i == 0) numbered = p->count == 4;
        if (p->count != (numbered ? 4 : 3))
            return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, p->columns[0],
                               "%d number%s for vertex %d of %d; expected %s", p->count, p->count == 1 ? "" : "s",
                               i + 1, n, numbered ? "index x y z" : "x y z");
        const double* x = p->numbers + numbered;
        if (numbered) {
            if (i == 0) *base = (int)p->numbers[0];
            if ((*base != 0 && *base != 1) || p->numbers[0] != *base + i)
                return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, p->columns[0],
                                   "vertex index %g; indices count up from 0 or 1 (here %d was expected)",
                                   p->numbers[0], (*base == 0 ? 0 : 1) + i);
        }
        if (!mor_mesh_point(p->file, mor_v3(x[0], x[1], x[2]))) return p->file->error->code;
    }
    return MOR_OK;
}

static mor_code read_faces(poly* p, int n, int m, int base)
{
    bool zero = false;
    int high_line = 0;
    for (int i = 0; i < m; i++) {
        mor_code code = next_numbers(p);
        if (code != MOR_OK) return code;
        if (p->count == 0)
            return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, 1,
                               "the file ends after %d of %d faces", i, m);
        if (p->count < 3) return wrong(p, p->columns[0], "a face has at least three vertices");
        for (int k = 0; k < p->count; k++) {
            double v = p->numbers[k];
            if (v != floor(v) || v < 0 || v > n || (base == 0 && v == n) || (base == 1 && v == 0))
                return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, p->columns[k],
                                   "face %d names vertex %g; the vertices are %d to %d", i + 1, v, base == 0 ? 0 : 1,
                                   base == 0 ? n - 1 : n);
            zero = zero || v == 0;
            if (v == n && !high_line) high_line = p->lines.line;
            if (!mor_mesh_corner(p->file, (int)v)) return p->file->error->code;
        }
        if (!mor_mesh_face_end(p->file)) return p->file->error->code;
    }
    if (zero && high_line)
        return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, high_line, 1,
                           "vertex %d is named although another face counts from 0; then the last vertex is %d", n,
                           n - 1);
    if (!zero && base != 0)
        for (int k = 0; k < p->file->corner_count; k++) p->file->corners[k]--;
    mor_code code = next_numbers(p);
    if (code != MOR_OK) return code;
    if (p->count)
        return mor_fail_at(p->file->error, MOR_BAD_INPUT, p->file->path, p->lines.line, p->columns[0],
                           "more lines than the %d vertices and %d faces announced", n, m);
    return MOR_OK;
}

mor_code mor_mesh_read_poly(mor_mesh_file* file)
{
    poly p = { .file = file, .lines = mor_lines_of(file) };
    p.numbers = malloc(NUMBERS_MAX * sizeof *p.numbers);
    p.columns = malloc(NUMBERS_MAX * sizeof *p.columns);
    mor_code code = MOR_SYSTEM;
    int n = 0, m = 0, base = -1;
    if (!p.numbers || !p.columns) mor_fail(file->error, MOR_SYSTEM, "%s: out of memory", file->path);
    else if (mor_mesh_piece_begin(file, "", 0, 1)) code = read_count(&p, "vertices", &n);
    if (code == MOR_OK) code = read_vertices(&p, n, &base);
    if (code == MOR_OK) code = read_count(&p, "faces", &m);
    if (code == MOR_OK) code = read_faces(&p, n, m, base);
    free(p.numbers);
    free(p.columns);
    return code;
}

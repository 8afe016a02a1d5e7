/* Prints the golden tables (golden.h).
 *     golden              the names of the parts, one per line
 *     golden PART...      their lines: "judge", "solver:lemke", "formulation:st" ... */
#include "golden.h"

#include "moreau/moreau.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t add(uint64_t hash, const void* bytes, size_t size)
{
    const unsigned char* b = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ b[i]) * 1099511628211u;
    return hash;
}

uint64_t golden_numbers(uint64_t hash, const double* numbers, int count)
{
    for (int i = 0; i < count; i++) hash = isnan(numbers[i]) ? add(hash, "nan", 3) : add(hash, &numbers[i], 8);
    return hash;
}

uint64_t golden_integers(uint64_t hash, const int* numbers, int count)
{
    for (int i = 0; i < count; i++) hash = add(hash, &numbers[i], sizeof *numbers);
    return hash;
}

uint64_t golden_text(uint64_t hash, const char* text) { return add(hash, text, strlen(text)); }

uint64_t golden_residual(uint64_t hash, const mor_residual* r)
{
    double all[] = { r->relative, r->absolute,     r->velocity,       r->natural,       r->fb,
                     r->cck,      r->normal_error, r->friction_error, r->friction_power };
    return golden_numbers(hash, all, (int)(sizeof all / sizeof *all));
}

void golden_line(const char* name, const char* status, int count, uint64_t hash)
{
    printf("%s %s %d %08x\n", name, status, count, (unsigned)(hash ^ hash >> 32));
}

int golden_values(const mor_field* f, char values[GOLDEN_VALUES][64])
{
    int count = 0;
    if (f->type == MOR_TYPE_BOOL) strcpy(values[count++], f->initial != 0.0 ? "false" : "true");
    else if (f->type == MOR_TYPE_CHOICE)
        for (int k = 0; count < GOLDEN_VALUES; k++) {
            const char* word = f->choices;
            for (int i = 0; i < k && word; i++) word = strchr(word, '|') ? strchr(word, '|') + 1 : NULL;
            if (!word) break;
            if (k != (int)f->initial) snprintf(values[count++], 64, "%.*s", (int)strcspn(word, "|"), word);
        }
    else if (f->type == MOR_TYPE_INT || f->type == MOR_TYPE_DOUBLE) {
        double tried[] = { f->initial > 0.0 ? 0.5 * f->initial : 0.05, 1.75 * f->initial + 0.01 };
        for (int k = 0; k < 2; k++) {
            double value = f->type == MOR_TYPE_INT ? floor(tried[k]) : tried[k];
            if (value >= f->min && value <= f->max && value != f->initial)
                snprintf(values[count++], 64, "%.10g", value);
        }
    }
    return count;
}

int main(int argc, char** argv)
{
    int shown = 0;
    for (int i = 1; i <= (argc > 1 ? argc - 1 : 1); i++) {
        const char* part = argc > 1 ? argv[i] : NULL;
        if (!part) puts("judge");
        else if (strcmp(part, "judge") == 0) golden_judge(), shown++;
        for (const mor_solver* const* s = mor_solvers(); *s; s++) {
            if (!part) printf("solver:%s\n", (*s)->name);
            else if (strncmp(part, "solver:", 7) == 0 && strcmp(part + 7, (*s)->name) == 0) golden_solver(*s), shown++;
        }
        for (int k = 0; mor_library_formulation_at(NULL, k); k++) {
            const mor_formulation* f = mor_library_formulation_at(NULL, k);
            if (!part) printf("formulation:%s\n", f->name);
            else if (strncmp(part, "formulation:", 12) == 0 && strcmp(part + 12, f->name) == 0)
                golden_formulation(f), shown++;
        }
    }
    if (shown == argc - 1) return 0;
    fprintf(stderr, "golden: no such part; `golden` names them\n");
    return 2;
}

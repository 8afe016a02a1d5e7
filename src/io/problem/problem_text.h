/* Problems in text files: from characters to a mor_problem. */
#ifndef MOR_IO_PROBLEM_TEXT_H
#define MOR_IO_PROBLEM_TEXT_H

#include "io/problem/problem_file.h"

/* Reads a problem whose form is set in file->problem.form; text[size] is 0. Everything goes to the file's arena. A
 * failure names path, line and column. */
mor_code mor_problem_parse(const char* path, const char* text, size_t size, mor_problem_file* file, mor_error* error);

#endif

/* The fixed parts of a report: style, script and the rules of docs/fairness.md. */
#ifndef MOR_LAB_PAGE_H
#define MOR_LAB_PAGE_H

extern const char mor_page_head[], mor_page_rules[], mor_page_foot[];

#endif

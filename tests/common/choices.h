/* The choice of planes in the step just made: no pair pushes on a plane while another one that is open separates it. */
#ifndef MOREAU_TESTS_CHOICES_H
#define MOREAU_TESTS_CHOICES_H

#include "moreau/moreau.h"

typedef struct test_choice_report {
    int pushing;  /* pairs that push */
    int choices;  /* of them, pairs with more than one open plane */
    double worst; /* largest gap at the end of the step of an open plane of a pair that pushes on another one, over the
                      size of the pair */
} test_choice_report;

/* Looks at the islands of the last step; adds to *report. Fails the test when a pushing plane is not marked as held. */
void test_choices(const mor_world* world, test_choice_report* report);

#endif

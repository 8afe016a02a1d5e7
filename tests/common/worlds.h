/* Small helpers that make worlds and bodies for tests; any failure ends the test. */
#ifndef MOREAU_TESTS_WORLDS_H
#define MOREAU_TESTS_WORLDS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "moreau/moreau.h"

/* Worlds with st and pgs, whatever the library's default is. */
mor_world* test_world(double h);
mor_world* test_world_2d(double h);
void test_method(mor_world* world, const char* stage, const char* name);
void test_option(mor_world* world, const char* stage, const char* option, const char* value);
/* A dynamic body with one shape (the reference to the shape is taken over), mass in kg (0: from density). */
mor_body_id test_body(mor_world* world, mor_geometry* shape, double mass, mor_vec3 position, mor_quat rotation);
mor_body_id test_fixed(mor_world* world, mor_geometry* shape, mor_vec3 position, mor_quat rotation);
mor_geometry* test_sphere(double r);
mor_geometry* test_box(double x, double y, double z);
mor_geometry* test_plane(void);
void test_velocity(mor_world* world, mor_body_id body, mor_vec3 v, mor_vec3 w);
/* n steps, each solved; returns the last report. */
mor_step_report test_steps(mor_world* world, int n);
/* The world of a scene's text (files in it are looked for in scenes/), or of scenes/NAME.yaml. */
mor_world* test_scene_text(const char* text, mor_scene** scene);
mor_world* test_scene_file(const char* name, mor_scene** scene);
/* Steps to that time, each solved. */
void test_until(mor_world* world, double time);
mor_body_state test_state(const mor_world* world, mor_body_id body);
/* Asserts |a - b| <= tol and says the numbers if not. */
void test_near(double a, double b, double tol, const char* what);

#endif

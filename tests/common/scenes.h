/* Where the scenes of the tree are, whatever folder they lie in. */
#ifndef MOREAU_TESTS_SCENES_H
#define MOREAU_TESTS_SCENES_H

/* The file of a scene by its name without folder and ending ("s2"), or with a folder ("shared/rrbot"). Ends the test if
 * there is none. The text is valid for the next 8 calls. */
const char* scene_path(const char* name);

/* Names of all scenes of the tree, sorted, without second names (links) and without those of scenes/shared, which need
 * data that is not part of the project. NULL at the end. Free with scene_names_free. */
char** scene_names(int* count);
void scene_names_free(char** names);

#endif

/* The other end of a server: requests (RFC 9110) and websockets (RFC 6455) byte by byte, so that a test can send what
 * no library would. Nothing here waits longer than PEER_PATIENCE: then the test fails. */
#ifndef MOREAU_TESTS_PEER_H
#define MOREAU_TESTS_PEER_H

#include <stdbool.h>
#include <stddef.h>

enum { PEER_PATIENCE = 60 }; /* s */

typedef struct peer_answer {
    int status; /* of HTTP; 0: the connection ended without an answer */
    char head[4096];
    unsigned char* body; /* with a zero behind it */
    size_t size;
} peer_answer;

/* A connection to this port of 127.0.0.1. */
int peer_connect(int port);
/* Sends bytes; false when the other end is gone. */
bool peer_send_bytes(int wire, const void* data, size_t size);
/* What comes until the other end closes, as an answer; closes the connection. */
void peer_hear(int wire, peer_answer* answer);
/* A whole request: METHOD PATH with the header Host (NULL: none) and others ("A: b\r\n", may be ""). Returns the
 * status. */
int peer_ask(int port, const char* method, const char* path, const char* host, const char* headers,
             peer_answer* answer);
void peer_free(peer_answer* answer);

/* Opcodes of frames. */
enum { PEER_PIECE = 0, PEER_TEXT = 1, PEER_BINARY = 2, PEER_CLOSE = 8, PEER_PING = 9, PEER_PONG = 10 };

typedef struct peer_message {
    int kind; /* opcode; -1: the connection is closed */
    unsigned char* data;
    size_t size, room;
} peer_message;

/* Asks for a websocket with the key of RFC 6455, section 1.3. Returns the wire, or -1; the answer is in `answer`. */
int peer_watch(int port, const char* path, const char* host, const char* headers, peer_answer* answer);
/* One frame, masked as a client must. */
bool peer_send(int wire, int opcode, bool last, const void* data, size_t size);
/* One text in one frame. */
bool peer_say(int wire, const char* text);
/* The next frame; returns its kind. */
int peer_receive(int wire, peer_message* message);
/* The next message of this kind that contains `text` (NULL: any); false when the connection ends before. */
bool peer_wait(int wire, peer_message* message, int kind, const char* text);

#endif

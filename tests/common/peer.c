/* The other end of a server, see peer.h. */
#include "common/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

int peer_connect(int port)
{
    int wire = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval patience = { PEER_PATIENCE, 0 };
    setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(wire, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (wire < 0 || connect(wire, (struct sockaddr*)&to, sizeof to) != 0) fail_msg("no server on port %d", port);
    return wire;
}

bool peer_send_bytes(int wire, const void* data, size_t size)
{
    const char* at = data;
    while (size > 0) {
        ssize_t n = send(wire, at, size, MSG_NOSIGNAL);
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Some bytes; 0: the other end has closed. Silence fails the test. */
static size_t some(int wire, void* data, size_t size)
{
    ssize_t n = recv(wire, data, size, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) fail_msg("the server says nothing for %d s", PEER_PATIENCE);
    return n > 0 ? (size_t)n : 0;
}

static void split(peer_answer* answer, unsigned char* all, size_t size)
{
    all[size] = 0;
    unsigned char* end = size ? (unsigned char*)strstr((char*)all, "\r\n\r\n") : NULL;
    if (end) {
        snprintf(answer->head, sizeof answer->head, "%.*s", (int)(end + 2 - all), (char*)all);
        sscanf(answer->head, "HTTP/1.%*d %d", &answer->status);
        answer->size = size - (size_t)(end + 4 - all);
        memmove(all, end + 4, answer->size + 1);
    }
    answer->body = all;
}

void peer_hear(int wire, peer_answer* answer)
{
    size_t size = 0, room = 1 << 16;
    unsigned char* all = malloc(room + 1);
    *answer = (peer_answer){ 0 };
    for (size_t n; (n = some(wire, all + size, room - size)) > 0;) {
        size += n;
        if (size == room) all = realloc(all, (room *= 2) + 1);
        assert_non_null(all);
    }
    close(wire);
    split(answer, all, size);
}

int peer_ask(int port, const char* method, const char* path, const char* host, const char* headers, peer_answer* answer)
{
    char text[8192];
    int wire = peer_connect(port), n = snprintf(text, sizeof text, "%s %s HTTP/1.1\r\n%s%s%s%s\r\n", method, path,
                                                host ? "Host: " : "", host ? host : "", host ? "\r\n" : "", headers);
    assert_true(n < (int)sizeof text);
    peer_send_bytes(wire, text, (size_t)n);
    peer_hear(wire, answer);
    return answer->status;
}

void peer_free(peer_answer* answer)
{
    free(answer->body);
    *answer = (peer_answer){ 0 };
}

int peer_watch(int port, const char* path, const char* host, const char* headers, peer_answer* answer)
{
    char text[4096];
    int wire = peer_connect(port),
        n = snprintf(text, sizeof text,
                     "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n",
                     path, host, headers);
    peer_send_bytes(wire, text, (size_t)n);
    unsigned char* head = calloc(1, sizeof answer->head + 1); /* up to the blank line: frames may follow at once */
    size_t size = 0;
    *answer = (peer_answer){ 0 };
    while (size < sizeof answer->head && !strstr((char*)head, "\r\n\r\n") && some(wire, head + size, 1) == 1) size++;
    split(answer, head, size);
    if (answer->status == 101) return wire;
    close(wire);
    return -1;
}

bool peer_send(int wire, int opcode, bool last, const void* data, size_t size)
{
    static const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };
    unsigned char head[8] = { (unsigned char)((last ? 0x80 : 0) | opcode) }, *frame = malloc(size + 8);
    size_t n = 2;
    assert_true(size < 65536 && frame);
    head[1] = (unsigned char)(0x80 | (size < 126 ? size : 126));
    if (size >= 126) head[2] = (unsigned char)(size >> 8), head[3] = (unsigned char)size, n = 4;
    memcpy(head + n, mask, 4);
    memcpy(frame, head, n + 4);
    for (size_t i = 0; i < size; i++) frame[n + 4 + i] = (unsigned char)(((const unsigned char*)data)[i] ^ mask[i % 4]);
    bool good = peer_send_bytes(wire, frame, n + 4 + size);
    free(frame);
    return good;
}

bool peer_say(int wire, const char* text) { return peer_send(wire, PEER_TEXT, true, text, strlen(text)); }

static bool exactly(int wire, unsigned char* data, size_t size)
{
    for (size_t n; size > 0; data += n, size -= n)
        if ((n = some(wire, data, size)) == 0) return false;
    return true;
}

int peer_receive(int wire, peer_message* m)
{
    unsigned char head[10];
    m->kind = -1;
    if (!exactly(wire, head, 2)) return -1;
    assert_int_equal(head[1] & 0x80, 0); /* a server does not mask */
    assert_int_equal(head[0] & 0x80, 0x80);
    uint64_t size = head[1], longer = size == 127 ? 8 : size == 126 ? 2 : 0;
    if (longer && !exactly(wire, head + 2, longer)) return -1;
    if (longer) size = 0;
    for (uint64_t i = 0; i < longer; i++) size = size << 8 | head[2 + i];
    assert_true(size < 1u << 28);
    if (size + 1 > m->room) m->data = realloc(m->data, m->room = size + 1);
    assert_non_null(m->data);
    if (!exactly(wire, m->data, size)) return -1;
    m->data[size] = 0;
    m->size = size;
    return m->kind = head[0] & 15;
}

bool peer_wait(int wire, peer_message* m, int kind, const char* text)
{
    for (int i = 0; i < 20000 && peer_receive(wire, m) >= 0; i++)
        if (m->kind == kind && (!text || strstr((char*)m->data, text))) return true;
    return false;
}

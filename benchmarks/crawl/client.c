/* The floor: a client that does nothing but ask. One thread, one epoll.
 *
 *   client CONNECTIONS DNS_PORT [AUTHORITY] < URLs
 *
 * For each URL it looks the name up (A and AAAA, as everybody must), connects, with AUTHORITY shakes hands and has
 * OpenSSL verify the chain and the name, sends HEAD, reads the reply's head and closes. It keeps, judges and follows
 * nothing. At the end it prints how many answered 200 and how many did not. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_TLS
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#else
typedef struct ssl_st SSL;
#endif

#define LOOK_UP_AGAIN_S 1.0

enum state { IDLE, NAME, CONNECTING, GREETING, READING };

struct check {
    SSL *tls;
    double asked_s;
    int fd, state, number, port, filled, answers;
    uint32_t ip;
    char host[256], path[1024], in[4096];
};

static struct check *checks;
static int poller, names, connections, busy, ok, failed, over;
#ifdef WITH_TLS
static SSL_CTX *context;
#endif

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void begin(struct check *c);

static void end(struct check *c, int is_ok) {
    *(is_ok ? &ok : &failed) += 1;
#ifdef WITH_TLS
    if (c->tls) {
        SSL_free(c->tls);
        ERR_clear_error();
    }
#endif
    if (c->fd >= 0) close(c->fd);
    c->state = IDLE;
    busy--;
    begin(c);
}

static void look_up(struct check *c) {
    static const uint8_t types[] = {1, 28};
    c->asked_s = now_s();
    c->answers = 0;
    c->ip = 0;
    for (int i = 0; i < 2; i++) {
        uint8_t data[512] = {c->number >> 8, c->number, 1, 0, 0, 1};
        int at = 12;
        for (const char *label = c->host; *label;) {
            int size = strcspn(label, ".");
            data[at++] = size;
            memcpy(data + at, label, size);
            at += size;
            label += size + (label[size] == '.');
        }
        at++;
        data[at + 1] = types[i];
        data[at + 3] = 1;
        send(names, data, at + 4, 0);
    }
}

static void begin(struct check *c) {
    char line[2048];
    if (over || !fgets(line, sizeof line, stdin)) {
        over = 1;
        return;
    }
    c->fd = -1;
    c->tls = NULL;
    c->filled = 0;
    if (sscanf(line, "%*[a-z]://%255[^:/]:%d%1023s", c->host, &c->port, c->path) != 3) fail(line);
    c->state = NAME;
    busy++;
    look_up(c);
}

static void connect_to(struct check *c) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(c->port), .sin_addr.s_addr = c->ip};
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (c->fd < 0) return end(c, 0);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = c->number};
    if (connect(c->fd, (struct sockaddr *)&at, sizeof at) && errno != EINPROGRESS) return end(c, 0);
    c->state = CONNECTING;
    if (epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event)) fail("epoll_ctl");
}

static void ask(struct check *c) {
    char out[2048];
    int size = snprintf(out, sizeof out,
        "HEAD %s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: benchmark\r\nAccept: */*\r\nAccept-Language: *\r\n"
        "Accept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\n\r\n", c->path, c->host, c->port);
    int sent;
#ifdef WITH_TLS
    if (c->tls)
        sent = SSL_write(c->tls, out, size);
    else
#endif
        sent = send(c->fd, out, size, MSG_NOSIGNAL);
    if (sent != size) return end(c, 0);
    c->state = READING;
}

static void greet(struct check *c) {
#ifdef WITH_TLS
    int done = SSL_connect(c->tls);
    if (done == 1) return ask(c);
    int why = SSL_get_error(c->tls, done);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
        if (!failed) ERR_print_errors_fp(stderr);
        end(c, 0);
    }
#else
    end(c, 0);
#endif
}

static void connected(struct check *c) {
    int wrong = 0;
    socklen_t size = sizeof wrong;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &wrong, &size);
    if (wrong) return end(c, 0);
#ifdef WITH_TLS
    if (context) {
        c->tls = SSL_new(context);
        SSL_set_fd(c->tls, c->fd);
        SSL_set_tlsext_host_name(c->tls, c->host);
        SSL_set1_host(c->tls, c->host);
        c->state = GREETING;
        return greet(c);
    }
#endif
    ask(c);
}

static void read_on(struct check *c) {
    for (;;) {
        int got, room = sizeof c->in - 1 - c->filled;
#ifdef WITH_TLS
        if (c->tls) {
            got = SSL_read(c->tls, c->in + c->filled, room);
            if (got <= 0 && SSL_get_error(c->tls, got) == SSL_ERROR_WANT_READ) return;
        } else
#endif
        {
            got = recv(c->fd, c->in + c->filled, room, 0);
            if (got < 0 && errno == EAGAIN) return;
        }
        if (got <= 0) return end(c, 0);
        c->filled += got;
        c->in[c->filled] = 0;
        if (strstr(c->in, "\r\n\r\n")) return end(c, strncmp(c->in, "HTTP/1.1 200 ", 13) == 0);
        if (c->filled >= (int)sizeof c->in - 1) return end(c, 0);
    }
}

static void read_names(void) {
    uint8_t data[1500];
    int got;
    while ((got = recv(names, data, sizeof data, 0)) > 12) {
        int number = data[0] << 8 | data[1], at = 12;
        if (number >= connections || checks[number].state != NAME) continue;
        struct check *c = &checks[number];
        while (at < got && data[at]) at += data[at] + 1;
        at += 5; /* after the question: an answer with a compressed name */
        if (data[7] && at + 16 <= got && data[at + 3] == 1) memcpy(&c->ip, data + at + 12, 4);
        if (++c->answers < 2) continue;
        if (c->ip)
            connect_to(c);
        else
            end(c, 0);
    }
}

static void step(struct check *c, uint32_t events) {
    if (c->state == CONNECTING) {
        if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) connected(c);
    } else if (c->state == GREETING) {
        greet(c);
    } else if (c->state == READING) {
        read_on(c);
    }
}

int main(int count, char **words) {
    if (count < 3) return fprintf(stderr, "client CONNECTIONS DNS_PORT [AUTHORITY] < URLs\n"), 2;
    struct rlimit files;
    signal(SIGPIPE, SIG_IGN);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    connections = atoi(words[1]);
    checks = calloc(connections, sizeof *checks);
    poller = epoll_create1(0);
    if (count > 3) {
#ifdef WITH_TLS
        context = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        if (SSL_CTX_load_verify_locations(context, words[3], NULL) != 1) fail(words[3]);
#else
        return fprintf(stderr, "compiled without TLS\n"), 2;
#endif
    }
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(words[2]))};
    at.sin_addr.s_addr = htonl(0x7f010001u);
    names = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    int room = 4 << 20;
    setsockopt(names, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (connect(names, (struct sockaddr *)&at, sizeof at)) fail("connect");
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, names, &event)) fail("epoll_ctl");
    for (int i = 0; i < connections; i++) {
        checks[i].number = i;
        begin(&checks[i]);
    }
    double looked_s = now_s();
    while (busy) {
        struct epoll_event events[256];
        int happened = epoll_wait(poller, events, 256, 200);
        for (int i = 0; i < happened; i++) {
            if (events[i].data.u32 == UINT32_MAX)
                read_names();
            else
                step(&checks[events[i].data.u32], events[i].events);
        }
        if (now_s() - looked_s > LOOK_UP_AGAIN_S) {
            looked_s = now_s();
            for (int i = 0; i < connections; i++)
                if (checks[i].state == NAME && looked_s - checks[i].asked_s > LOOK_UP_AGAIN_S) look_up(&checks[i]);
        }
    }
    printf("{\"ok\": %d, \"failed\": %d}\n", ok, failed);
    return 0;
}

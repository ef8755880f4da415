/* The web and the name server of the benchmarks: one thread, one epoll, faster than any client that is measured.
 *
 *   server ADDRESSES PORT DNS_PORT DELAY_MIN_MS DELAY_MAX_MS [-p PAGES] [CERTIFICATES]
 *
 * Listens on 127.1.0.1 ... 127.1.0.ADDRESSES and answers any Host, HEAD and GET, kept alive; with CERTIFICATES (PEM:
 * certificate and key in turn, the n-th for *.s<n>.demo) over TLS. Names end in .demo and lead to one of the addresses.
 * Each answer waits for a time between the two delays; where the first is negative, for one without memory whose mean is
 * the second (exponential, three times the mean at most). PAGES is a file of pages, each with its size in a line before
 * it, which are sent in turn by the number of the URL. It is told what to do on stdin, `stats` or `reset`, one line
 * each, and ends when that is closed. Python's `standin.py` does the same where there is no compiler. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
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
#include <openssl/pem.h>
#include <openssl/ssl.h>
#else
typedef struct ssl_st SSL;
#endif

#define IN_BYTES 2048
#define IDLE_MS 2000
#define URLS (1 << 23)
#define SLOTS 32768 /* of TICK_MS each */
#define TICK_MS 8
#define NAME_SERVERS 2
#define PATIENCE_MS 2000
#define PAGES 4096

enum kind { LISTENER, NAMES, CONTROL, CONNECTION };

struct conn {
    SSL *tls;
    struct conn *older, *newer; /* by last use */
    struct conn *next_due;
    uint64_t used_ms, due_ms; /* used_ms is 0 outside of that list */
    int fd, filled, greeted, answered, waiting, gone, is_get, is_404, is_last, is_hot, number;
    char in[IN_BYTES];
};

static struct {
    uint64_t requests, urls, heads, gets, robots, twice, hot, accepts, broken, open, waiting, queries;
    double first_s, last_s;
} stats;

static uint8_t *seen_head, *seen_get;
static struct conn *oldest, *newest, *due[SLOTS];
static int poller, addresses, delay_min_ms, delay_max_ms;
static uint64_t now_ms, tick;
static int kinds[1 << 20];
static struct conn *conns[1 << 20];

/* What is under /p/<number>; nothing is under any other path, nor under numbers as large as crawlers make up. */
static const char PAGE[] =
    "<!doctype html><html lang=en><title>A page</title><h1>A page</h1><p>It has some text, as pages do, so that whoever "
    "reads it has something to read, and it says nothing that could be taken for an error, a login or an offer. The text "
    "goes on for a while, then it ends.</p></html>\n";

static struct { const char *data; int size; } pages[PAGES] = {{PAGE, sizeof PAGE - 1}};
static int page_count = 1;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void watch(int fd, int kind, int op, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (fd >= 1 << 20) fail("too many files");
    kinds[fd] = kind;
    if (epoll_ctl(poller, op, fd, &event)) fail("epoll_ctl");
}

static struct sockaddr_in address(int last, int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    at.sin_addr.s_addr = htonl(0x7f010000u + last); /* 127.1.0.last */
    return at;
}

static int listen_on(int last, int port, int type) {
    int fd = socket(AF_INET, type | SOCK_NONBLOCK, 0), one = 1, room = 4 << 20;
    struct sockaddr_in at = address(last, port);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (type == SOCK_DGRAM) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (bind(fd, (struct sockaddr *)&at, sizeof at)) return close(fd), -1;
    if (type == SOCK_STREAM && listen(fd, 4096)) fail("listen");
    return fd;
}

/* Connections that were answered and wait for another request, by last use: idle ones are found at once. */

static void unlink_conn(struct conn *c) {
    if (!c->used_ms) return;
    *(c->older ? &c->older->newer : &oldest) = c->newer;
    *(c->newer ? &c->newer->older : &newest) = c->older;
    c->used_ms = 0;
}

static void link_conn(struct conn *c) {
    c->used_ms = now_ms;
    c->older = newest;
    c->newer = NULL;
    *(newest ? &newest->newer : &oldest) = c;
    newest = c;
}

static void drop(struct conn *c) {
    unlink_conn(c);
#ifdef WITH_TLS
    if (c->tls) {
        SSL_shutdown(c->tls);
        SSL_free(c->tls);
        ERR_clear_error();
    }
#endif
    conns[c->fd] = NULL;
    close(c->fd);
    stats.open--;
    if (!c->answered) stats.broken++;
    if (c->waiting) {
        stats.waiting--;
        c->gone = 1; /* freed when its time comes */
    } else {
        free(c);
    }
}

static int put(struct conn *c, const char *data, int size) {
#ifdef WITH_TLS
    if (c->tls) return SSL_write(c->tls, data, size);
#endif
    return send(c->fd, data, size, MSG_NOSIGNAL);
}

/* Sends all of it and returns 1, or 0 where the client no longer reads. */
static int put_all(struct conn *c, const char *data, int size) {
    while (size) {
        int done = put(c, data, size);
        if (done <= 0) {
            struct pollfd writable = {.fd = c->fd, .events = POLLOUT};
            if ((done < 0 && !c->tls && errno != EAGAIN) || poll(&writable, 1, PATIENCE_MS) <= 0) return 0;
            if (writable.revents & (POLLERR | POLLHUP)) return 0;
            continue;
        }
        data += done;
        size -= done;
    }
    return 1;
}

/* Less than 0: no more for now; 0: the end. */
static int take(struct conn *c, char *data, int size) {
#ifdef WITH_TLS
    if (c->tls) {
        int got = SSL_read(c->tls, data, size);
        if (got > 0) return got;
        return SSL_get_error(c->tls, got) == SSL_ERROR_WANT_READ ? -1 : 0;
    }
#endif
    int got = recv(c->fd, data, size, 0);
    return got < 0 && errno != EAGAIN ? 0 : got;
}

static const char *header(const char *head, const char *name) {
    const char *at = strcasestr(head, name);
    return at ? at + strlen(name) : "";
}

static void count(struct conn *c) {
    if (c->is_404) return;
    stats.last_s = now_s();
    if (!stats.requests++) stats.first_s = stats.last_s;
    *(c->is_get ? &stats.gets : &stats.heads) += 1;
    stats.hot += c->is_hot;
    uint8_t *seen = (c->is_get ? seen_get : seen_head) + c->number;
    if (!seen_get[c->number] && !seen_head[c->number]) stats.urls++;
    if (*seen) stats.twice++;
    *seen = 1;
}

static void read_on(struct conn *c);

static void answer(struct conn *c) {
    char out[1024];
    int page = c->number % page_count, body = c->is_404 ? 0 : pages[page].size;
    int size = snprintf(out, sizeof out,
        "HTTP/1.1 %s\r\nServer: bench\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n%s\r\n",
        c->is_404 ? "404 Not Found" : "200 OK", body, c->is_last ? "Connection: close\r\n" : "");
    count(c);
    /* One packet where both fit. A client that has read enough of a body has its answer, too. */
    if (c->is_get && body < (int)sizeof out - size) memcpy(out + size, pages[page].data, body), size += body, body = 0;
    c->answered = put_all(c, out, size);
    if (c->answered && c->is_get && body && !put_all(c, pages[page].data, body)) return drop(c);
    if (!c->answered || c->is_last) return drop(c);
    link_conn(c);
    if (c->filled) read_on(c);
}

static void read_head(struct conn *c, const char *head) {
    const char *path = strchr(head, ' '), *host = header(head, "\r\nHost: ");
    char *after = NULL;
    unsigned long number = path && strncmp(path, " /p/", 4) == 0 ? strtoul(path + 4, &after, 10) : 0;
    c->number = number;
    c->is_get = strncmp(head, "HEAD ", 5) != 0;
    c->is_hot = strncmp(host, "hot", 3) == 0;
    c->is_last = strncasecmp(header(head, "\r\nConnection: "), "close", 5) == 0;
    c->is_404 = !after || *after != ' ' || number >= URLS;
    if (path && strncmp(path, " /robots.txt ", 13) == 0) stats.robots++;
}

static int delay_ms(void) {
    if (delay_min_ms >= 0)
        return delay_min_ms + (delay_max_ms > delay_min_ms ? random() % (delay_max_ms - delay_min_ms) : 0);
    double delay = -delay_max_ms * log((random() + 1.0) / (RAND_MAX + 1.0));
    return delay < 3.0 * delay_max_ms ? delay : 3.0 * delay_max_ms;
}

/* Takes one request off what was read, if it is whole. */
static void read_on(struct conn *c) {
    c->in[c->filled] = 0;
    char *end = strstr(c->in, "\r\n\r\n");
    if (!end) {
        if (c->filled >= IN_BYTES - 1) drop(c);
        return;
    }
    end[2] = 0;
    unlink_conn(c);
    read_head(c, c->in);
    int used = end + 4 - c->in;
    memmove(c->in, end + 4, c->filled -= used);
    if (!delay_max_ms) return answer(c);
    c->due_ms = now_ms + delay_ms();
    struct conn **slot = &due[(c->due_ms / TICK_MS + 1) % SLOTS];
    c->waiting = 1;
    stats.waiting++;
    c->next_due = *slot;
    *slot = c;
}

static void ready(struct conn *c) {
#ifdef WITH_TLS
    if (c->tls && !c->greeted) {
        int done = SSL_accept(c->tls);
        if (done != 1) {
            if (SSL_get_error(c->tls, done) != SSL_ERROR_WANT_READ) drop(c);
            ERR_clear_error();
            return;
        }
        c->greeted = 1;
    }
#endif
    for (;;) {
        char spare[64];
        int got = c->waiting ? take(c, spare, sizeof spare) : take(c, c->in + c->filled, IN_BYTES - 1 - c->filled);
        if (got < 0) return;
        if (got == 0) return drop(c);
        if (c->waiting) continue; /* nobody who is measured sends before the answer */
        c->filled += got;
        int fd = c->fd;
        read_on(c);
        if (conns[fd] != c) return;
    }
}

/* TLS: one context, the certificate by the name in the greeting. */

#ifdef WITH_TLS
static SSL_CTX *context;
static X509 **certificates;
static EVP_PKEY **keys;
static int domains;

static int named(SSL *tls, int *alert, void *unused) {
    const char *name = SSL_get_servername(tls, TLSEXT_NAMETYPE_host_name), *domain = name ? strstr(name, ".s") : NULL;
    int number = domain ? atoi(domain + 2) : 0;
    (void)alert, (void)unused;
    if (number < 0 || number >= domains) number = 0;
    SSL_use_certificate(tls, certificates[number]);
    SSL_use_PrivateKey(tls, keys[number]);
    return SSL_TLSEXT_ERR_OK;
}

static int speaks_http1(SSL *tls, const unsigned char **out, unsigned char *size, const unsigned char *in,
                        unsigned int in_size, void *unused) {
    static const unsigned char http1[] = "\x08http/1.1";
    (void)tls, (void)unused;
    return SSL_select_next_proto((unsigned char **)out, size, http1, 9, in, in_size) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
}

static void open_tls(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) fail(path);
    context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_tlsext_servername_callback(context, named);
    SSL_CTX_set_alpn_select_cb(context, speaks_http1, NULL);
    for (;;) {
        X509 *certificate = PEM_read_X509(file, NULL, NULL, NULL);
        EVP_PKEY *key = certificate ? PEM_read_PrivateKey(file, NULL, NULL, NULL) : NULL;
        if (!key) break;
        certificates = realloc(certificates, (domains + 1) * sizeof *certificates);
        keys = realloc(keys, (domains + 1) * sizeof *keys);
        certificates[domains] = certificate;
        keys[domains++] = key;
    }
    ERR_clear_error();
    fclose(file);
    if (!domains || SSL_CTX_use_certificate(context, certificates[0]) != 1 ||
        SSL_CTX_use_PrivateKey(context, keys[0]) != 1)
        fail("certificates");
}
#endif

static void welcome(int listener) {
    for (int i = 0; i < 64; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK), one = 1;
        if (fd < 0) return;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct conn *c = calloc(1, sizeof *c);
        c->fd = fd;
#ifdef WITH_TLS
        if (context) {
            c->tls = SSL_new(context);
            SSL_set_fd(c->tls, fd);
        }
#endif
        conns[fd] = c;
        watch(fd, CONNECTION, EPOLL_CTL_ADD, EPOLLIN);
        stats.accepts++;
        stats.open++;
        if (!c->tls) ready(c);
    }
}

/* Names: an address for A, nothing for all other types, "no such name" outside of .demo. */
static void look_up(int fd) {
    uint8_t data[1500];
    struct sockaddr_in from;
    for (int i = 0; i < 64; i++) {
        socklen_t size = sizeof from;
        int got = recvfrom(fd, data, 512, 0, (struct sockaddr *)&from, &size);
        if (got < 0) return;
        uint32_t hash = 2166136261u;
        int at = 12, last = 12;
        while (at < got && data[at]) {
            last = at;
            for (int end = at + data[at] + 1; at < end && at < got; at++) hash = (hash ^ (data[at] | 32)) * 16777619u;
        }
        if (at + 5 > got) continue;
        int type = data[at + 1] << 8 | data[at + 2], known = strncasecmp((char *)data + last, "\4demo", 5) == 0;
        at += 5;
        stats.queries++;
        data[2] = 0x84 | (data[2] & 1);
        data[3] = 0x80 | (known ? 0 : 3);
        memset(data + 4, 0, 8);
        data[5] = 1;
        if (known && type == 1) {
            uint32_t ip = htonl(0x7f010001u + hash % addresses);
            static const uint8_t record[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4};
            data[7] = 1;
            memcpy(data + at, record, sizeof record);
            memcpy(data + at + sizeof record, &ip, 4);
            at += sizeof record + 4;
        }
        sendto(fd, data, at, 0, (struct sockaddr *)&from, size);
    }
}

static void obey(void) {
    char line[256];
    int got = read(0, line, sizeof line - 1);
    if (got <= 0) exit(0);
    line[got] = 0;
    if (strstr(line, "reset")) {
        uint64_t open = stats.open, waiting = stats.waiting;
        memset(&stats, 0, sizeof stats);
        stats.open = open;
        stats.waiting = waiting;
        memset(seen_head, 0, URLS);
        memset(seen_get, 0, URLS);
    }
    printf("{\"requests\": %lu, \"urls\": %lu, \"heads\": %lu, \"gets\": %lu, \"robots\": %lu, \"twice\": %lu, ",
           stats.requests, stats.urls, stats.heads, stats.gets, stats.robots, stats.twice);
    printf("\"hot\": %lu, \"accepts\": %lu, \"broken\": %lu, \"open\": %lu, \"waiting\": %lu, \"queries\": %lu, ",
           stats.hot, stats.accepts, stats.broken, stats.open, stats.waiting, stats.queries);
    printf("\"first_s\": %.6f, \"last_s\": %.6f}\n", stats.first_s, stats.last_s);
    fflush(stdout);
}

static void read_pages(const char *path) {
    FILE *file = fopen(path, "r");
    int size;
    if (!file) fail(path);
    for (page_count = 0; page_count < PAGES && fscanf(file, "%d", &size) == 1; page_count++) {
        char *data = malloc(size);
        fgetc(file);
        if (fread(data, 1, size, file) != (size_t)size) fail(path);
        pages[page_count].data = data;
        pages[page_count].size = size;
    }
    fclose(file);
    if (!page_count) fail(path);
}

static void answer_due(void) {
    for (uint64_t until = now_ms / TICK_MS; tick <= until; tick++) {
        struct conn *c = due[tick % SLOTS];
        due[tick % SLOTS] = NULL;
        while (c) {
            struct conn *next = c->next_due;
            c->waiting = 0;
            if (!c->gone) stats.waiting--;
            if (c->gone)
                free(c);
            else
                answer(c);
            c = next;
        }
    }
    while (oldest && oldest->used_ms + IDLE_MS < now_ms) drop(oldest);
}

int main(int count, char **words) {
    if (count < 6) return fprintf(stderr, "see the head of server.c\n"), 2;
    struct rlimit files;
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes to whoever has gone */
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    addresses = atoi(words[1]);
    delay_min_ms = atoi(words[4]);
    delay_max_ms = atoi(words[5]);
    seen_head = calloc(URLS, 1);
    seen_get = calloc(URLS, 1);
    poller = epoll_create1(0);
    int paged = count > 7 && !strcmp(words[6], "-p") ? 2 : 0;
    if (paged) read_pages(words[7]);
    if (count > 6 + paged) {
#ifdef WITH_TLS
        open_tls(words[6 + paged]);
#else
        return fprintf(stderr, "compiled without TLS\n"), 2;
#endif
    }
    for (int i = 1; i <= addresses; i++) {
        int fd = listen_on(i, atoi(words[2]), SOCK_STREAM);
        if (fd < 0) fail("bind");
        watch(fd, LISTENER, EPOLL_CTL_ADD, EPOLLIN);
    }
    int names = listen_on(1, atoi(words[3]), SOCK_DGRAM), usual = listen_on(1, 53, SOCK_DGRAM);
    if (names < 0) fail("bind");
    watch(names, NAMES, EPOLL_CTL_ADD, EPOLLIN);
    if (usual >= 0) watch(usual, NAMES, EPOLL_CTL_ADD, EPOLLIN);
    watch(0, CONTROL, EPOLL_CTL_ADD, EPOLLIN);
    printf("{\"port_53\": %s}\n", usual >= 0 ? "true" : "false");
    fflush(stdout);
    tick = now_s() * 1000 / TICK_MS;
    for (;;) {
        struct epoll_event events[256];
        int happened = epoll_wait(poller, events, 256, delay_max_ms ? TICK_MS : 100);
        now_ms = now_s() * 1000;
        for (int i = 0; i < happened; i++) {
            int fd = events[i].data.fd;
            switch (kinds[fd]) {
            case LISTENER: welcome(fd); break;
            case NAMES: look_up(fd); break;
            case CONTROL: obey(); break;
            case CONNECTION:
                if (conns[fd]) ready(conns[fd]);
            }
        }
        answer_due();
    }
}

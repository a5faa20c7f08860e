#include "rpc/address_int.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static enum cz_status parse_unix(struct cz_rpc_address *out, const char *text, const char *path, struct cz_error *err) {
    if (strncmp(path, "//", 2) == 0) {
        path += 2;
        if (path[0] != '/') {
            return cz_error_set(err, CZ_ERR_ARGUMENT, "address %.200s: after unix:// comes an absolute path", text);
        }
    }
    if (path[0] == 0) return cz_error_set(err, CZ_ERR_ARGUMENT, "address %.200s: the socket's path is empty", text);
    if (strlen(path) >= sizeof out->path) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "address %.200s: a socket's path has at most %zu bytes", text,
                            sizeof out->path - 1);
    }
    (void)snprintf(out->path, sizeof out->path, "%s", path);
    (void)snprintf(out->target, sizeof out->target, "unix:%s", path);
    return CZ_OK;
}

static bool valid_port(const char *port) {
    size_t n = strspn(port, "0123456789");
    if (n == 0 || n > 5 || port[n] != 0) return false;
    unsigned value = 0;
    for (; *port; port++) value = value * 10 + (unsigned)(*port - '0');
    return value <= 65535;
}

enum cz_status cz_rpc_address_parse(struct cz_rpc_address *out, const char *text, struct cz_error *err) {
    struct cz_rpc_address a = {0};
    if (strncmp(text, "unix:", 5) == 0) {
        enum cz_status status = parse_unix(&a, text, text + 5, err);
        if (status == CZ_OK) *out = a;
        return status;
    }
    const char *rest = text;
    if (strncmp(rest, "http://", 7) == 0)
        rest += 7;
    else if (strstr(rest, "://")) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "address %.200s: the scheme is http:// or unix://", text);
    }
    const char *colon = strrchr(rest, ':');
    size_t len = colon ? (size_t)(colon - rest) : 0;
    size_t port_len = colon ? strcspn(colon + 1, "/") : 0;
    bool tail = colon && colon[1 + port_len] != 0 && strcmp(colon + 1 + port_len, "/") != 0;
    if (colon && port_len < sizeof a.port) memcpy(a.port, colon + 1, port_len);
    if (!colon || tail || !valid_port(a.port)) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "address %.200s: wants host:port with a port from 0 to 65535", text);
    }
    if (len == 0) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "address %.200s: wants a host before the port, such as 127.0.0.1",
                            text);
    }
    bool brackets = rest[0] == '[' && rest[len - 1] == ']';
    if (brackets) rest++, len -= 2;
    if (len == 0 || len >= sizeof a.host || (!brackets && memchr(rest, ':', len))) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "address %.200s: malformed host (an IPv6 one stands in brackets)",
                            text);
    }
    for (size_t i = 0; i < len; i++) {
        if (rest[i] <= ' ' || rest[i] == '/' || rest[i] == 0x7f) {
            return cz_error_set(err, CZ_ERR_ARGUMENT, "address %.200s: malformed host", text);
        }
        a.host[i] = rest[i];
    }
    (void)snprintf(a.target, sizeof a.target, brackets ? "[%s]:%s" : "%s:%s", a.host, a.port);
    *out = a;
    return CZ_OK;
}

static enum cz_status probe_unix(const struct cz_rpc_address *address, struct cz_error *err) {
    struct stat info;
    if (lstat(address->path, &info) != 0) {
        if (errno == ENOENT) return CZ_OK;
        return cz_error_set(err, CZ_ERR_IO, "socket %s: %m", address->path);
    }
    if (!S_ISSOCK(info.st_mode)) {
        return cz_error_set(err, CZ_ERR_EXISTS, "socket %s: a file that is no socket is there", address->path);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return cz_error_set(err, CZ_ERR_IO, "socket %s: %m", address->path);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", address->path);
    int rc = connect(fd, (const struct sockaddr *)&name, sizeof name);
    int error = rc == 0 ? 0 : errno;
    (void)close(fd);
    if (error == 0 || error == EAGAIN) { /* EAGAIN: listening, its backlog full */
        return cz_error_set(err, CZ_ERR_EXISTS, "socket %s is in use by a running server", address->path);
    }
    if (error != ECONNREFUSED) {
        errno = error;
        return cz_error_set(err, CZ_ERR_IO, "socket %s: %m", address->path);
    }
    if (unlink(address->path) != 0 && errno != ENOENT) {
        return cz_error_set(err, CZ_ERR_IO, "socket %s is stale and cannot be removed: %m", address->path);
    }
    return CZ_OK;
}

/* Binds and lets go. SO_REUSEADDR, so that connections in TIME_WAIT do not count; a listener does. */
static int try_bind(const struct addrinfo *info) {
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    int one = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    int error = bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, 1) == 0 ? 0 : errno;
    (void)close(fd);
    return error;
}

enum cz_status cz_rpc_address_probe(const struct cz_rpc_address *address, struct cz_error *err) {
    if (address->path[0]) return probe_unix(address, err);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *list = NULL;
    int rc = getaddrinfo(address->host, address->port, &hints, &list);
    if (rc != 0) return cz_error_set(err, CZ_ERR_ARGUMENT, "address %s: %s", address->target, gai_strerror(rc));
    enum cz_status status = CZ_OK;
    int bound = 0, last = 0;
    for (const struct addrinfo *info = list; info && status == CZ_OK; info = info->ai_next) {
        int error = try_bind(info);
        if (error == 0)
            bound++;
        else
            last = error;
        if (error == EADDRINUSE) { status = cz_error_set(err, CZ_ERR_EXISTS, "address %s is in use", address->target); }
    }
    freeaddrinfo(list);
    if (status == CZ_OK && bound == 0) {
        errno = last;
        status = cz_error_set(err, CZ_ERR_NETWORK, "address %s: %m", address->target);
    }
    return status;
}

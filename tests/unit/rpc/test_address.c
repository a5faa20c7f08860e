#include "rpc/address_int.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/cz-address-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static void parses(void **state) {
    (void)state;
    static const struct {
        const char *text, *target;
    } good[] = {
        {"127.0.0.1:9820", "127.0.0.1:9820"},
        {"http://127.0.0.1:9820", "127.0.0.1:9820"},
        {"http://localhost:1/", "localhost:1"},
        {"host-a.example:65535", "host-a.example:65535"},
        {"[::1]:0", "[::1]:0"},
        {"unix:///run/curio/cuzk.sock", "unix:/run/curio/cuzk.sock"},
        {"unix:here.sock", "unix:here.sock"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct cz_rpc_address a;
        struct cz_error err = {0};
        assert_int_equal(cz_rpc_address_parse(&a, good[i].text, &err), CZ_OK);
        assert_string_equal(a.target, good[i].target);
    }
    struct cz_rpc_address a;
    assert_int_equal(cz_rpc_address_parse(&a, "http://[fe80::2]:443", NULL), CZ_OK);
    assert_string_equal(a.host, "fe80::2");
    assert_string_equal(a.port, "443");
    assert_string_equal(a.path, "");
}

static void refuses(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",        ":9820",    "127.0.0.1",  "127.0.0.1:",    "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
        "a:1x",    "a:123456", "::1:80",     "[::1]",         "[]:80",           "https://a:80", "unix:",
        "unix://", "a b:80",   "unix://a/b", "http://a:80/b", "a/b:80",          "http://",      "a:1:2",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cz_rpc_address a;
        struct cz_error err = {0};
        if (cz_rpc_address_parse(&a, bad[i], &err) != CZ_ERR_ARGUMENT) fail_msg("accepted \"%s\"", bad[i]);
        assert_non_null(strstr(err.detail, "address"));
    }
    char path[200] = "unix:/";
    memset(path + 6, 'a', 106);
    struct cz_rpc_address a;
    assert_int_equal(cz_rpc_address_parse(&a, path, NULL), CZ_OK); /* 107 bytes: the most there is room for */
    path[112] = 'a';
    assert_int_equal(cz_rpc_address_parse(&a, path, NULL), CZ_ERR_ARGUMENT);
    char host[400];
    memset(host, 'h', sizeof host);
    memcpy(host + 300, ":80", 4);
    assert_int_equal(cz_rpc_address_parse(&a, host, NULL), CZ_ERR_ARGUMENT);
}

static int listen_unix(const char *path) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

static void socket_files(void **state) {
    (void)state;
    char text[128];
    struct cz_rpc_address a;
    struct cz_error err = {0};
    (void)snprintf(text, sizeof text, "unix://%s/s", folder);
    assert_int_equal(cz_rpc_address_parse(&a, text, &err), CZ_OK);
    assert_int_equal(cz_rpc_address_probe(&a, &err), CZ_OK); /* nothing there */

    int fd = listen_unix(a.path);
    assert_int_equal(cz_rpc_address_probe(&a, &err), CZ_ERR_EXISTS);
    assert_non_null(strstr(err.detail, "in use"));
    assert_int_equal(access(a.path, F_OK), 0); /* left alone */
    (void)close(fd);
    assert_int_equal(cz_rpc_address_probe(&a, &err), CZ_OK); /* stale: removed */
    assert_int_equal(access(a.path, F_OK), -1);

    FILE *f = fopen(a.path, "w");
    assert_non_null(f);
    (void)fclose(f);
    assert_int_equal(cz_rpc_address_probe(&a, &err), CZ_ERR_EXISTS);
    assert_int_equal(access(a.path, F_OK), 0);
    (void)unlink(a.path);
}

static void ports(void **state) {
    (void)state;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof name;
    assert_int_equal(bind(fd, (struct sockaddr *)&name, len), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &len), 0);
    char text[64];
    (void)snprintf(text, sizeof text, "127.0.0.1:%u", ntohs(name.sin_port));
    struct cz_rpc_address a;
    struct cz_error err = {0};
    assert_int_equal(cz_rpc_address_parse(&a, text, &err), CZ_OK);
    assert_int_equal(cz_rpc_address_probe(&a, &err), CZ_ERR_EXISTS);
    assert_non_null(strstr(err.detail, "in use"));
    (void)close(fd);
    assert_int_equal(cz_rpc_address_probe(&a, &err), CZ_OK);
    /* TEST-NET-1: no machine has it */
    assert_int_equal(cz_rpc_address_parse(&a, "192.0.2.1:0", &err), CZ_OK);
    assert_int_equal(cz_rpc_address_probe(&a, &err), CZ_ERR_NETWORK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses),
        cmocka_unit_test(refuses),
        cmocka_unit_test(socket_files),
        cmocka_unit_test(ports),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

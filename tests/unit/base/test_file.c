#include "base/bytes.h"
#include "base/file.h"
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/cuzk-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int files_in_folder(void) {
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static char *in_folder(const char *name) {
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_then_read_and_map(void **state) {
    (void)state;
    const char *path = in_folder("a");
    size_t n = 3000001;
    uint8_t *data = cz_malloc_array(n, 1), *back;
    for (size_t i = 0; i < n; i++) data[i] = (uint8_t)(i * 7);
    struct cz_file_writer *w;
    assert_int_equal(cz_file_writer_create(&w, path, NULL), CZ_OK);
    assert_int_equal(cz_file_writer_append(w, data, 1, NULL), CZ_OK);
    assert_int_equal(cz_file_writer_append(w, data + 1, 1999999, NULL), CZ_OK);
    assert_int_equal(cz_file_writer_append(w, data + 2000000, n - 2000000, NULL), CZ_OK);
    assert_int_equal(access(path, F_OK), -1); /* not there before commit */
    assert_int_equal(cz_file_writer_commit(w, NULL), CZ_OK);
    size_t len;
    assert_int_equal(cz_file_read(&back, &len, path, n, NULL), CZ_OK);
    assert_int_equal(len, n);
    assert_memory_equal(back, data, n);
    assert_int_equal(back[n], 0);
    cz_free(back);
    struct cz_map map;
    assert_int_equal(cz_map_open(&map, path, NULL), CZ_OK);
    assert_int_equal(map.size, n);
    assert_memory_equal(map.data, data, n);
    cz_map_close(&map);
    assert_null(map.data);
    struct cz_error err = {0};
    assert_int_equal(cz_file_read(&back, &len, path, n - 1, &err), CZ_ERR_LIMIT);
    assert_non_null(strstr(err.detail, path));
    cz_free(data);
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
}

static void abort_leaves_nothing(void **state) {
    (void)state;
    struct cz_file_writer *w;
    assert_int_equal(cz_file_writer_create(&w, in_folder("b"), NULL), CZ_OK);
    assert_int_equal(cz_file_writer_append(w, "xyz", 3, NULL), CZ_OK);
    cz_file_writer_abort(w);
    cz_file_writer_abort(NULL);
    assert_int_equal(files_in_folder(), 0);
}

/* A second file takes the first one's place, and has the rights that the mask allows. */
static void replaces(void **state) {
    (void)state;
    const char *path = in_folder("r");
    for (int i = 0; i < 2; i++) {
        uint8_t *back;
        size_t len;
        assert_int_equal(cz_file_write(path, i ? "second" : "first", i ? 6 : 5, NULL), CZ_OK);
        assert_int_equal(cz_file_read(&back, &len, path, 100, NULL), CZ_OK);
        assert_string_equal(back, i ? "second" : "first");
        cz_free(back);
        assert_int_equal(files_in_folder(), 1);
    }
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    mode_t mask = umask(0);
    (void)umask(mask);
    assert_int_equal(st.st_mode & 0777, 0644 & ~mask);
    unlink(path);
    /* A name without a folder: the current one. */
    char here[256];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(cz_file_write("plain", "x", 1, NULL), CZ_OK);
    assert_int_equal(unlink("plain"), 0);
    assert_int_equal(chdir(here), 0);
}

static bool has_unnamed_files(void) {
    int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static void killed_leaves_nothing(void **state) {
    (void)state;
    if (!has_unnamed_files()) skip();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        static const uint8_t data[3 << 20];
        struct cz_file_writer *w;
        if (cz_file_writer_create(&w, in_folder("k"), NULL) != CZ_OK) _exit(1);
        if (cz_file_writer_append(w, data, sizeof data, NULL) != CZ_OK) _exit(1);
        (void)raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(files_in_folder(), 0);
}

static void failures_name_the_file(void **state) {
    (void)state;
    struct cz_error err = {0};
    struct cz_map map;
    uint8_t *data;
    size_t len;
    assert_int_equal(cz_map_open(&map, in_folder("absent"), &err), CZ_ERR_NOT_FOUND);
    assert_non_null(strstr(err.detail, "absent"));
    assert_int_equal(cz_file_read(&data, &len, folder, 100, &err), CZ_ERR_IO); /* a folder */
    assert_int_equal(cz_file_write(in_folder("no/such/folder"), "x", 1, &err), CZ_ERR_IO);
    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    assert_int_equal(cz_map_open(&map, in_folder("fifo"), &err), CZ_ERR_IO); /* and does not wait for a writer */
    assert_int_equal(cz_file_write(in_folder("fifo"), "x", 1, &err), CZ_ERR_IO);
    assert_non_null(strstr(err.detail, "no regular file"));
    assert_int_equal(cz_file_write("/dev/null", "x", 1, &err), CZ_ERR_IO); /* as root it would be replaced */
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    unlink(in_folder("fifo"));
}

static void empty_files(void **state) {
    (void)state;
    assert_int_equal(cz_file_write(in_folder("e"), "", 0, NULL), CZ_OK);
    struct cz_map map;
    assert_int_equal(cz_map_open(&map, in_folder("e"), NULL), CZ_OK);
    assert_int_equal(map.size, 0);
    cz_map_close(&map);
    unlink(in_folder("e"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_then_read_and_map),
        cmocka_unit_test(abort_leaves_nothing),
        cmocka_unit_test(replaces),
        cmocka_unit_test(killed_leaves_nothing),
        cmocka_unit_test(failures_name_the_file),
        cmocka_unit_test(empty_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

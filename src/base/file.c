#include "base/file.h"

#include "base/bytes.h"
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum cz_status open_regular(int *fd_out, struct stat *st, const char *path, struct cz_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        enum cz_status status = errno == ENOENT ? CZ_ERR_NOT_FOUND : CZ_ERR_IO;
        return cz_error_set(err, status, "%s: %s", path, strerror(errno));
    }
    if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode)) {
        close(fd);
        return cz_error_set(err, CZ_ERR_IO, "%s: not a regular file", path);
    }
    *fd_out = fd;
    return CZ_OK;
}

enum cz_status cz_map_open(struct cz_map *out, const char *path, struct cz_error *err) {
    int fd = -1;
    struct stat st;
    enum cz_status status = open_regular(&fd, &st, path, err);
    if (status != CZ_OK) return status;
    struct cz_map map = {.data = NULL, .size = (size_t)st.st_size};
    if (map.size > 0) {
        void *p = mmap(NULL, map.size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) {
            status = cz_error_set(err, CZ_ERR_IO, "%s: cannot map: %s", path, strerror(errno));
            close(fd);
            return status;
        }
        map.data = p;
    }
    close(fd);
    *out = map;
    return CZ_OK;
}

void cz_map_close(struct cz_map *map) {
    if (map->data) munmap((void *)map->data, map->size);
    *map = (struct cz_map){0};
}

static enum cz_status read_all(int fd, uint8_t *buf, size_t size, const char *path, struct cz_error *err) {
    for (size_t got = 0; got < size;) {
        ssize_t n = read(fd, buf + got, size - got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return cz_error_set(err, CZ_ERR_IO, "%s: %s", path, strerror(errno));
        if (n == 0) return cz_error_set(err, CZ_ERR_IO, "%s: became shorter while it was read", path);
        got += (size_t)n;
    }
    return CZ_OK;
}

enum cz_status cz_file_read(uint8_t **out, size_t *len, const char *path, size_t limit, struct cz_error *err) {
    int fd = -1;
    struct stat st;
    enum cz_status status = open_regular(&fd, &st, path, err);
    if (status != CZ_OK) return status;
    uint8_t *buf = NULL;
    size_t size = (size_t)st.st_size;
    if (size > limit) {
        status = cz_error_set(err, CZ_ERR_LIMIT, "%s: %zu bytes, the limit is %zu", path, size, limit);
        goto out;
    }
    buf = cz_malloc_array(size + 1, 1);
    if (!buf) {
        status = cz_error_set(err, CZ_ERR_MEMORY, "%s: no memory for %zu bytes", path, size);
        goto out;
    }
    status = read_all(fd, buf, size, path, err);
    if (status != CZ_OK) goto out;
    buf[size] = 0;
    *out = buf;
    *len = size;
    buf = NULL;
out:
    cz_free(buf);
    close(fd);
    return status;
}

#define WRITER_BUFFER (1u << 20)

struct cz_file_writer {
    int fd;
    bool named; /* tmp is in the folder: otherwise the file has no name, and goes with the process */
    char *path, *tmp;
    size_t fill;
    bool failed;
    struct cz_error error;
    uint8_t buf[WRITER_BUFFER];
};

static enum cz_status writer_fail(struct cz_file_writer *w, struct cz_error *err, const char *what) {
    if (!w->failed) {
        w->failed = true;
        (void)cz_error_set(&w->error, CZ_ERR_IO, "%s: %s: %s", w->path, what, strerror(errno));
    }
    if (err) *err = w->error;
    return w->error.status;
}

/* The folder that `path` is in; to be freed with free(). */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

static void descriptor_path(char *out, size_t size, int fd) {
    (void)snprintf(out, size, "/proc/self/fd/%d", fd);
}

/* A file without a name, where the file system has such and /proc is there to name it later; or -1. */
static int open_unnamed(const char *path) {
    char *folder = folder_of(path), descriptor[32];
    int fd = folder ? open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644) : -1;
    free(folder);
    if (fd < 0) return -1;
    descriptor_path(descriptor, sizeof descriptor, fd);
    if (access(descriptor, F_OK) == 0) return fd;
    close(fd);
    return -1;
}

enum cz_status cz_file_writer_create(struct cz_file_writer **out, const char *path, struct cz_error *err) {
    size_t room = strlen(path) + 32;
    struct stat st;
    /* The rename would put a file in the place of a device or a socket. */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return cz_error_set(err, CZ_ERR_IO, "%s: there already, and no regular file", path);
    }
    struct cz_file_writer *w = cz_malloc_array(1, sizeof *w);
    if (!w) return cz_error_set(err, CZ_ERR_MEMORY, "%s: no memory", path);
    w->fd = -1;
    w->named = false;
    w->fill = 0;
    w->failed = false;
    w->path = strdup(path);
    w->tmp = cz_malloc_array(room, 1);
    uint64_t tag;
    if (!w->path || !w->tmp || cz_random_bytes(&tag, sizeof tag) != CZ_OK) {
        cz_file_writer_abort(w);
        return cz_error_set(err, CZ_ERR_MEMORY, "%s: no memory", path);
    }
    (void)snprintf(w->tmp, room, "%s.tmp-%016llx", path, (unsigned long long)tag);
    w->fd = open_unnamed(path);
    if (w->fd < 0) {
        w->fd = open(w->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        w->named = w->fd >= 0;
    }
    if (w->fd < 0) {
        enum cz_status status = cz_error_set(err, CZ_ERR_IO, "%s: %s", w->tmp, strerror(errno));
        cz_file_writer_abort(w);
        return status;
    }
    *out = w;
    return CZ_OK;
}

static enum cz_status write_out(struct cz_file_writer *w, const uint8_t *p, size_t len, struct cz_error *err) {
    while (len > 0) {
        ssize_t n = write(w->fd, p, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return writer_fail(w, err, "write");
        p += n;
        len -= (size_t)n;
    }
    return CZ_OK;
}

enum cz_status cz_file_writer_append(struct cz_file_writer *w, const void *data, size_t len, struct cz_error *err) {
    if (w->failed) return writer_fail(w, err, "write");
    if (len > WRITER_BUFFER - w->fill) {
        enum cz_status status = write_out(w, w->buf, w->fill, err);
        if (status != CZ_OK) return status;
        w->fill = 0;
        if (len >= WRITER_BUFFER) return write_out(w, data, len, err);
    }
    memcpy(w->buf + w->fill, data, len);
    w->fill += len;
    return CZ_OK;
}

static void sync_folder(const char *path) {
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

/* A link does not replace what is there, a rename does: a file without a name gets the temporary one on the way. */
static enum cz_status give_name(struct cz_file_writer *w, struct cz_error *err) {
    if (!w->named) {
        char descriptor[32];
        descriptor_path(descriptor, sizeof descriptor, w->fd);
        if (linkat(AT_FDCWD, descriptor, AT_FDCWD, w->tmp, AT_SYMLINK_FOLLOW) != 0) return writer_fail(w, err, "link");
        w->named = true;
    }
    if (rename(w->tmp, w->path) != 0) return writer_fail(w, err, "rename");
    w->named = false; /* the name is the file's now: abort must not remove it */
    return CZ_OK;
}

enum cz_status cz_file_writer_commit(struct cz_file_writer *w, struct cz_error *err) {
    enum cz_status status = w->failed ? writer_fail(w, err, "write") : write_out(w, w->buf, w->fill, err);
    if (status == CZ_OK && fsync(w->fd) != 0) status = writer_fail(w, err, "sync");
    if (status == CZ_OK) status = give_name(w, err);
    if (status == CZ_OK) sync_folder(w->path);
    cz_file_writer_abort(w);
    return status;
}

void cz_file_writer_abort(struct cz_file_writer *w) {
    if (!w) return;
    if (w->fd >= 0) close(w->fd);
    if (w->named) (void)unlink(w->tmp);
    free(w->path);
    cz_free(w->tmp);
    cz_free(w);
}

enum cz_status cz_file_write(const char *path, const void *data, size_t len, struct cz_error *err) {
    struct cz_file_writer *w;
    enum cz_status status = cz_file_writer_create(&w, path, err);
    if (status != CZ_OK) return status;
    status = cz_file_writer_append(w, data, len, err);
    if (status != CZ_OK) {
        cz_file_writer_abort(w);
        return status;
    }
    return cz_file_writer_commit(w, err);
}

#ifndef CUZK_CLI_OUTPUT_H
#define CUZK_CLI_OUTPUT_H

/* JSON and text for standard output, and a line on a terminal that says how far a long call is. */

#include "base/status.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_gen.h>

/** Text from elsewhere, made fit to print: what is not UTF-8 becomes U+FFFD. Freed with cz_free; NULL without memory.
 */
char *cz_output_clean(const char *text);

/* Members of a JSON object under way, by yajl. */
void cz_output_text(yajl_gen g, const char *key, const char *text);
void cz_output_u64(yajl_gen g, const char *key, uint64_t value);
/** Printed with three decimals. */
void cz_output_number(yajl_gen g, const char *key, double value);
void cz_output_bool(yajl_gen g, const char *key, bool value);
/** n bytes as lower-case hex. */
void cz_output_hex(yajl_gen g, const char *key, const uint8_t *bytes, size_t n);
void cz_output_map(yajl_gen g, const char *key);
void cz_output_array(yajl_gen g, const char *key);

/** A generator for one object, opened; NULL without memory. */
yajl_gen cz_output_begin(void);
/** Closes the object, prints it and a line feed to standard output, frees g. False when it could not be written. */
bool cz_output_end(yajl_gen g);

/** Writes a line of at most `size` bytes about where the work stands. */
typedef void cz_ticker_fn(void *ctx, char *line, size_t size);

/** Once standard error is a terminal and two seconds are over, shows the line twice a second. */
struct cz_ticker {
    cz_ticker_fn *fn;
    void *ctx;
    bool running, stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};
void cz_ticker_start(struct cz_ticker *t, cz_ticker_fn *fn, void *ctx);
/** Ends it and wipes the line. */
void cz_ticker_end(struct cz_ticker *t);

#endif

/* Every case of tests/diff on the CPU device: each level of arithmetic, on one thread and on three. */

#include "compute/compute.h"
#include "diff/cases.h"
#include "field/cpu.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

struct setting {
    enum cz_field_level level;
    unsigned threads;
};

struct bound_case {
    const struct diff_case *c;
    struct setting setting;
    char name[80];
};

static void run_case(void **state) {
    const struct bound_case *b = *state;
    struct cz_pool *pool;
    struct cz_device *dev;
    assert_int_equal(cz_field_select(b->setting.level), CZ_OK);
    assert_int_equal(cz_pool_create(&pool, b->setting.threads), CZ_OK);
    assert_int_equal(cz_device_create_cpu(&dev, pool), CZ_OK);
    assert_string_equal(cz_device_name(dev), "cpu");
    assert_true(b->c->run(dev));
    cz_device_destroy(dev);
    cz_pool_destroy(pool);
}

int main(int argc, char **argv) {
    static struct bound_case bound[128];
    static struct CMUnitTest test[128];
    size_t n = 0;
    const char *only = argc > 1 ? argv[1] : "";
    for (int level = CZ_FIELD_PORTABLE; level <= (int)cz_field_supported(); level++) {
        for (size_t i = 0; i < diff_num_cases && n < 128; i++) {
            struct bound_case *b = &bound[n];
            if (!strstr(diff_cases[i].name, only)) continue;
            b->c = &diff_cases[i];
            b->setting = (struct setting){(enum cz_field_level)level, (i + (size_t)level) % 2 ? 1 : 3};
            snprintf(b->name, sizeof b->name, "%s %s", cz_field_level_name((enum cz_field_level)level), b->c->name);
            test[n] = (struct CMUnitTest){b->name, run_case, NULL, NULL, b};
            n++;
        }
    }
    return _cmocka_run_group_tests("compute/device_cpu", test, n, NULL, NULL);
}

/* cuzk: the offline commands. Each command has a file of its own, cuzk_<command>.c. */

#include "cli/command.h"
#include "compute/gpu.h"

static const struct cz_command *const COMMANDS[] = {&CZ_COMMAND_R1CS,   &CZ_COMMAND_WITNESS, &CZ_COMMAND_SETUP,
                                                    &CZ_COMMAND_PROVE,  &CZ_COMMAND_VERIFY,  &CZ_COMMAND_INSPECT,
                                                    &CZ_COMMAND_PARAMS, &CZ_COMMAND_GPU};

static void print_help(FILE *f) {
    (void)fprintf(f, "cuzk %s: Filecoin proofs, offline\n\n", CZ_VERSION);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        (void)fprintf(f, "  cuzk %s\n", COMMANDS[i]->usage);
    }
    (void)fprintf(f, "\ncuzk COMMAND --help explains one. cuzk-daemon serves proofs, cuzk-bench talks to it.\n");
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return CZ_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return CZ_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        const char *held = cz_gpu_architectures();
        printf("cuzk %s, %s%s\n", CZ_VERSION, *held ? "CUDA for " : "no CUDA", held);
        return CZ_EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        if (strcmp(argv[1], COMMANDS[i]->name) != 0) continue;
        int status = COMMANDS[i]->run(argc - 1, argv + 1);
        if (fflush(stdout) != 0 || ferror(stdout)) {
            (void)fprintf(stderr, "cuzk %s: cannot write to standard output\n", COMMANDS[i]->name);
            return CZ_EXIT_FAILED;
        }
        return status;
    }
    (void)fprintf(stderr, "cuzk: unknown command \"%.40s\" (see cuzk --help)\n", argv[1]);
    return CZ_EXIT_USAGE;
}

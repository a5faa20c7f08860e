#!/bin/sh
# Runs a test of the daemon with the parameters in CZ_TEST_PARAMS, or else those that e2e/cli-setup made.
CZ_TEST_PARAMS=${CZ_TEST_PARAMS:-$CZ_E2E_PARAMS} exec node "$@"

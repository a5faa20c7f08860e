#ifndef CUZK_BASE_BANNED_H
#define CUZK_BASE_BANNED_H

/*
 * Included before every C file: functions that overflow, do not say how they failed, or keep hidden state become
 * compile errors. The headers that declare them come first.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets strtok atoi atol atoll atof
#pragma GCC poison gmtime localtime ctime asctime srand tmpnam mktemp

/* Not poisoned: OpenSSL's headers name parameters so. A call is an error all the same. */
int rand(void) __attribute__((deprecated("banned: use base/random.h")));

#endif

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
#pragma GCC poison gmtime localtime ctime asctime rand srand tmpnam mktemp

#endif

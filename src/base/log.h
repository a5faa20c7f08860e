#ifndef CUZK_BASE_LOG_H
#define CUZK_BASE_LOG_H

/* Logging for the engine, the daemon and the commands; libraries below them do not log. One line an event, to stderr.
 */

#include "base/status.h"

enum cz_log_level { CZ_LOG_TRACE, CZ_LOG_DEBUG, CZ_LOG_INFO, CZ_LOG_WARN, CZ_LOG_ERROR };

/** Sets the least level printed and the format (JSON object a line, or text). Call before threads start. */
void cz_log_setup(enum cz_log_level level, bool json);

/** Reads "trace" … "error" (any case); CZ_ERR_FORMAT otherwise. */
CZ_MUST_CHECK enum cz_status cz_log_level_parse(enum cz_log_level *out, const char *text);

/** Control characters and invalid UTF-8 in the text are escaped, so hostile input cannot forge lines. */
void cz_log(enum cz_log_level level, const char *fmt, ...) CZ_PRINTF(2, 3);

#endif

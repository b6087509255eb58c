/* page.h -- a page of text at http://127.0.0.1:PORT/metrics, in the text format 0.0.4 of Prometheus.
 *
 *     mt_status status = mt_page_open(&page, 9464, text, user);
 *     while (running())
 *         mt_page_serve(page, 0.1); */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_page mt_page; /* opaque */

enum { MT_PAGE = 8192 }; /* bytes of a page at most, with the zero at its end */

/* mt_page_open -- text(user, ...) writes the page whenever somebody asks for it. MT_ERR_ARGUMENT, with words: the port
 * may not be used, or is still taken after a second, in which the one that follows an earlier run may end. */
mt_status mt_page_open(mt_page **out, int64_t port, void (*text)(void *user, char text[MT_PAGE]), void *user);

/* mt_page_serve -- hear and answer those who are there; waits so long for somebody. */
void mt_page_serve(mt_page *page, double seconds);

void mt_page_close(mt_page *page); /* NULL is allowed */

MT_C_END

/* put.h -- text and numbers into JSON and SVG: any bytes give a valid file, whatever the locale. */
#pragma once

#include "core/base.h"

#include <stdio.h>

MT_C_BEGIN

/* mt_put_json, mt_put_xml -- text inside "..." of JSON; as text or inside an attribute of XML. What is not UTF-8, and
 * what XML cannot represent (control characters), becomes U+FFFD, the replacement character. */
void mt_put_json(FILE *out, const char *text);
void mt_put_xml(FILE *out, const char *text);

/* mt_put_column -- for a terminal: padded by spaces to `width` characters; control characters become U+FFFD. */
void mt_put_column(FILE *out, const char *text, int64_t width);

/* mt_text_width -- characters that mt_put_... write of text, before escaping. */
int64_t mt_text_width(const char *text);

/* mt_put_fixed -- value with so many decimals (0 to 9) and a point, never a comma; |value| < 1e9. NaN gives 0. */
void mt_put_fixed(FILE *out, double value, int decimals);

MT_C_END

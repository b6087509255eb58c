/* test_report_html.c -- the page of a grade: what it shows, safety with hostile text, and the code it quotes. */
#include "report_example.h"

Test(html, strangers_words_are_no_markup, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[1];
    mg_results results = hostile(rows);
    SET(rows[0].call, "mt_evil(x)");
    results.sources = unit_of("evil.c", "/* \xff\x1b */\nvoid mt_evil(float *x)\n{\n    puts(\"" HOSTILE "\");\n}\n");
    rows[0].counted.sites = 1;
    rows[0].counted.site[0] = (mg_site){ { 0, 1, 1, 4, 0, 8, 256, 8, 8 }, "evil.c", 4 };
    char *page = report_of(mg_report_html, &results);
    expect_clean(page);
    cr_expect_null(strstr(page, "<script"));
    cr_expect_null(strstr(page, "<img"));
    cr_expect_null(strstr(page, "alert(\""));
    cr_expect(strstr(page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;"));
    cr_expect(strstr(page, "puts(&quot;&lt;script&gt;"), "the code is shown");
    free(page);
    free(results.sources);
}

Test(html, is_one_page_with_the_bars, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[6];
    mg_results results = example(rows);
    char *page = report_of(mg_report_html, &results);
    cr_expect_null(strstr(page, "http://"));
    cr_expect_null(strstr(page, "https://"));
    cr_expect_null(strstr(page, " src="));
    cr_expect(strstr(page, "prefers-color-scheme: dark"));
    cr_expect(strstr(page, "63 of 85 points"));
    cr_expect(strstr(page, "<td class=\"verdict FAIL\">FAIL</td><td class=\"number\">0/2</td>"));
    cr_expect(strstr(page, "Hint: exp(90) overflows float"));
    cr_expect(strstr(page, "class=\"bar\""));
    cr_expect(strstr(page, "no points at 0.5 \xc2\xb7 full points from 0.95"));
    cr_expect(strstr(page, "<td class=\"number\">1 of 2</td><td class=\"number\">3/5</td>"), "points of step 02.5");
    cr_expect(strstr(page, "id=\"failed\"") < strstr(page, "id=\"rows\""), "failures come first");
    results.count = 5;
    free(page);
    page = report_of(mg_report_html, &results);
    cr_expect_null(strstr(page, "class=\"bar\""), "no measured row, no plot");
    cr_expect_null(strstr(page, "Ignored"));
    cr_expect_null(strstr(page, "id=\"lines\""));
    free(page);
    SET(results.ignored, "<b>Makefile (not a unit)");
    page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "Ignored in the submission</dt><dd>&lt;b&gt;Makefile (not a unit)</dd>"));
    free(page);
}

Test(html, says_what_to_do_next, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[6];
    mg_results results = example(rows);
    results.sources =
        unit_of("softmax.c", "#include <math.h>\n\nvoid mt_softmax_fwd_cpu(float *out)\n{\n    int x;\n}\n"
                             "void mt_other(void)\n{\n    MT_TODO(\"02.6\");\n}\n");
    char *page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "Repair step <strong>02.5</strong>: softmax: large logits, at "
                           "<code>labs/02-backprop/softmax.c:3</code>"),
              "%s", page);
    cr_expect(strstr(page, "make grade LAB=02 STEP=02.5</code>"));
    free(page);
    mg_row failed = rows[2];
    rows[2].call[0] = rows[2].hint[0] = 0;
    SET(rows[2].note, "softmax.c does not build");
    SET(results.build_log, "In file\nlabs/02-backprop/softmax.c:3:9: error: unknown type <T>\nx.c:1:1: error: y\n");
    page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "softmax.c does not build: the compiler&rsquo;s first error is at "
                           "<code>labs/02-backprop/softmax.c:3:9</code>"),
              "%s", page);
    cr_expect_null(strstr(page, "Your code"), "the compiler has shown the line");
    free(page);
    SET(results.build_log, "softmax.c: Assembler messages:\nsoftmax.c:8: Error: no such instruction: `bogus %eax'\n"
                           "softmax.c:9:1: error: y\n");
    page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "first error is at <code>softmax.c:8</code>"), "%s", page);
    free(page);
    results.build_log[0] = 0;
    rows[2] = failed;
    rows[2].verdict = MG_PASS, rows[2].points = 2;
    page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "Write step <strong>02.6</strong>: cross-entropy backward, at "
                           "<code>labs/02-backprop/softmax.c:9</code>"),
              "%s", page);
    free(page);
    for (int i = 0; i < 6; i++)
        rows[i].verdict = MG_PASS, rows[i].points = rows[i].max;
    page = report_of(mg_report_html, &results);
    cr_expect_null(strstr(page, "What to do next"));
    cr_expect_null(strstr(page, "id=\"failed\""));
    free(page);
    rows[1].verdict = MG_REVIEW, rows[1].points = 0;
    SET(rows[1].detail, "counted 0.4, less than half");
    page = report_of(mg_report_html, &results);
    cr_expect_null(strstr(page, "What to do next"), "a student has nothing to do");
    cr_expect(strstr(page, "<br>counted 0.4, less than half</td><td class=\"verdict REVIEW\">REVIEW</td>"), "%s", page);
    free(page);
    free(results.sources);
}

Test(html, rows_of_a_unit_that_does_not_build_are_one_entry, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[4] = { row("01.1", "a", MG_FAIL, 0, 1), row("01.1", "b", MG_FAIL, 0, 2),
                       row("01.2", "c", MG_FAIL, 0, 3), row("01.3", "<d>", MG_FAIL, 0, 4) };
    mg_results results = { .rows = rows, .count = 4 };
    for (int i = 0; i < 4; i++)
        SET(rows[i].note, i == 1 ? "view.c does not build" : "copy.c does not build");
    char *page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "<p>copy.c does not build</p>\n<p>For the same reason:</p>\n<ul class=\"plain\">\n"
                           "<li>01.2 c <span class=\"faint\">0/3 points</span></li>\n"
                           "<li>01.3 &lt;d&gt; <span class=\"faint\">0/4 points</span></li>\n</ul>\n</article>"),
              "%s", page);
    cr_expect(strstr(page, "<h3>01.1 b ") && !strstr(page, "<h3>01.2 c "), "another unit, another entry");
    free(page);
    SET(rows[2].call, "mt_c(1)"); /* what was called is shown for each row */
    page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "<h3>01.2 c ") && !strstr(page, "<li>01.2 c"));
    free(page);
}

/* Numbers of attributes in the page's drawings: finite, and inside their viewBox. */
static void expect_inside(const char *page, const char *attribute, double most)
{
    for (const char *p = page; (p = strstr(p, attribute)); p++) {
        double value = atof(p + strlen(attribute));
        cr_expect(value >= 0 && value <= most, "%.40s", p);
    }
}

Test(html, strange_numbers_draw_inside_the_picture, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[3] = { row("01.1", "a", MG_PASS, 1, 1), row("01.2", "b", MG_FAIL, 0, 1),
                       row("01.3", "c", MG_PASS, 1, 1) };
    rows[0].measured = 1e300, rows[0].low = 1e308, rows[0].full = 0; /* lower is better, and the scale overflows */
    rows[1].measured = -INFINITY, rows[1].low = 1, rows[1].full = 2; /* not a number: not drawn */
    rows[2].measured = 0, rows[2].low = 0, rows[2].full = 0;
    rows[0].flops = 1e300, rows[0].bytes = 1e-300, rows[2].flops = 1, rows[2].bytes = 1e300;
    mg_results results = { .rows = rows, .count = 3 };
    char *page = report_of(mg_report_html, &results), *bar = page;
    for (int i = 0; i < 2; i++)
        cr_expect(bar && (bar = strstr(bar + 1, "class=\"bar\"")), "two rows are drawn");
    cr_expect_null(bar ? strstr(bar + 1, "class=\"bar\"") : NULL);
    cr_expect_null(strstr(page, "=\"inf"));
    cr_expect_null(strstr(page, "=\"nan"));
    cr_expect_null(strstr(page, "=\"-nan"));
    cr_expect_null(strstr(page, "Minf"));
    cr_expect_null(strstr(page, "Mnan"));
    expect_inside(page, " width=\"", 1000);
    expect_inside(page, " d=\"M", 1000);
    expect_inside(page, " cx=\"", 360);
    expect_inside(page, " cy=\"", 240);
    free(page);
}

/* ---- the emulator's counts ------------------------------------------------------------------------ */

Test(counted, lines_and_banks_are_drawn_and_kept, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[1] = { row("06.6", "tiled: bank conflicts", MG_FAIL, 0, 3) }, again = { 0 };
    mg_counted *c = &rows[0].counted;
    c->sites = 2;
    c->site[0] = (mg_site){ { 0, 0, 0, 4, 0, 1536, 49152, 6144, 6144 }, "transpose.cu", 2 };
    c->site[1] = (mg_site){ { 0, 0, 1, 4, 0, 1536, 49152, 49152, 1536 }, "transpose.cu", 3 };
    c->drawn = (mg_site){ { 0, 0, 1, 4, 0, 1, 3, 2, 1 }, "transpose.cu", 3 };
    c->lanes = 1u | 2u | 1u << 31;
    c->offset[0] = 4, c->offset[1] = 132, c->offset[31] = 8; /* banks 1, 1 and 2 */
    rows[0].flops = 10, rows[0].bytes = 20;
    mg_results results = { .rows = rows, .count = 1, .max = 3 };
    results.sources = unit_of("transpose.cu", "{\n  a<b>;\n  tile[r];\n}\n");
    char *page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "transpose.cu:2<br><code>a&lt;b&gt;;</code>"), "%s", page);
    cr_expect(strstr(page, "<td class=\"number FAIL\">32.0x</td>"));
    cr_expect(strstr(page, "2 wavefronts, ideally 1"));
    cr_expect(strstr(page, "<rect class=\"cell hot\" x=\"20\" y=\"36\""), "lane 1 waits for lane 0");
    cr_expect(strstr(page, "<rect class=\"cell\" x=\"40\" y=\"16\""));
    free(page);
    char *text = report_of(mg_report_json, &results);
    cJSON *root = cJSON_Parse(text);
    mg_counted_take(&again,
                    cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "tests"), 0), "extra_data"));
    cr_expect_eq(memcmp(&again.counted, c, sizeof *c), 0, "it was:\n%s", text);
    cr_expect(again.flops == 10 && again.bytes == 20);
    cJSON_Delete(root);
    free(text);
    free(results.sources);
}

Test(counted, what_is_no_count_is_left_out)
{
    static const char *const bad[] = {
        "{\"lines\":[{\"unit\":\"a\",\"counts\":[1,9,0,4,1,1,1,1]}]}",
        "{\"lines\":[{\"counts\":[1,0,0,4,0,1,1,1]}]}",
        "{\"lines\":[{\"unit\":7,\"counts\":[1,0,-1,4,1,1,1,1]}]}",
        "{\"lines\":[7, null, []]}",
        "{\"lines\":[{\"counts\":[1,0,0,4,1e300,1,1,1]}]}",
        "{\"drawn\":{\"offsets\":[1,2,3]}}",
        "{\"drawn\":[], \"flops\":\"x\"}",
    };
    for (int i = 0; i < MT_COUNT(bad); i++) {
        mg_row r = row("06.1", "a", MG_PASS, 1, 1);
        cJSON *extra = cJSON_Parse(bad[i]);
        cr_assert(extra);
        mg_counted_take(&r, extra);
        cr_expect(r.counted.sites == 0 && r.counted.lanes == 0 && r.flops == 0, "%s", bad[i]);
        cJSON_Delete(extra);
    }
}

/* ---- excerpts ------------------------------------------------------------------------------------- */

static void expect_excerpt(const mg_excerpt *e, int first, int last, int marked)
{
    cr_expect(e->first == first && e->last == last && e->marked == marked, "%d .. %d, %d; not %d .. %d, %d", e->first,
              e->last, e->marked, first, last, marked);
}

Test(excerpt, is_the_function_that_the_row_is_about)
{
    static const char text[] = "static float helper(float x)\n"                            /* 1 */
                               "{\n    /* LAB 02.6 BEGIN  x */\n    return x;\n}\n\n"      /* 2 .. 6 */
                               "void mt_a_fwd(float *out,\n              float *x);\n"     /* 7, 8: a declaration */
                               "void mt_a_fwd(float *out,\n              float *x)\n{\n"   /* 9 .. 11 */
                               "    helper(*x);\n}\n\n"                                    /* 12 .. 14 */
                               "void mt_a_bwd(float *dx)\n{\n    /* LAB 02.6 BEGIN */\n}"; /* 15 .. 18 */
    mg_sources *sources = unit_of("a.c", text);
    mg_row r = row("02.6", "a", MG_FAIL, 0, 1);
    mg_excerpt e[3];
    SET(r.call, "mt_a_fwd(out, x)");
    cr_assert_eq(mg_excerpt_find(e, 3, sources, &r), 2);
    expect_excerpt(&e[0], 9, 13, 0);
    expect_excerpt(&e[1], 1, 5, 0);
    SET(r.detail, "labs/02-backprop/a.c:4: signal 11");
    cr_assert_eq(mg_excerpt_find(e, 3, sources, &r), 2);
    expect_excerpt(&e[0], 1, 5, 4);
    SET(r.detail, "a.c:400: a.c:x");
    SET(r.call, "mt_a(x)");
    cr_assert_eq(mg_excerpt_find(e, 3, sources, &r), 2, "not in this unit: the functions with regions of the step");
    expect_excerpt(&e[1], 15, 18, 0);
    cr_expect_eq(mg_excerpt_find(e, 3, NULL, &r), 0);
    free(sources);
}

/* Text without any layout: nothing is found, or some lines, in little time. */
Test(excerpt, survives_odd_units, .timeout = 600)
{
    enum { BYTES = 250000 };
    static char text[BYTES + 1];
    static const char *const pieces[] = { "}", "\n", "a(", "mt_a(", "/* LAB 02.6 BEGIN\n", "mt_a(\n", "{;\n", "\xff" };
    mg_row r = row("02.6", "a", MG_FAIL, 0, 1);
    SET(r.call, "mt_a(x)");
    SET(r.detail, "a.c:2: oh");
    for (int p = 0; p < MT_COUNT(pieces); p++) {
        size_t n = strlen(pieces[p]);
        for (size_t i = 0; i < BYTES; i++)
            text[i] = pieces[p][i % n];
        mg_sources *sources = unit_of("a.c", text);
        mg_excerpt e[3];
        cr_expect_leq(mg_excerpt_find(e, 3, sources, &r), 3);
        free(sources);
    }
}

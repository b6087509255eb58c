/* test_curve.c -- curves of the numbers of a run: they are drawn whatever the names of files, with an axis that fits
 * its values, and leave nothing behind where they cannot be drawn. */
#include "temp_dir.h"

#include "prof/curve.h"
#include "prof/metrics_csv.h"

TestSuite(curve, .init = temp_dir_make, .fini = temp_dir_remove);

/* text_of -- the whole of a small file, "" when there is none. */
static const char *text_of(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    if (file)
        fclose(file);
    return text;
}

static const mt_curve curve = {
    .title = "a title",
    .x = "epoch",
    .left = "loss",
    .line = { { "loss", "the loss", MT_CURVE_LEFT } },
};

static void put_metrics(const char *path)
{
    mt_metrics *metrics;
    cr_assert_eq(mt_metrics_open(&metrics, path, "epoch,loss"), MT_OK);
    mt_metrics_row(metrics, "1,0.5");
    mt_metrics_row(metrics, "2,0.25");
    mt_metrics_close(metrics);
}

Test(curve, is_drawn)
{
    if (system("command -v gnuplot >/dev/null") != 0)
        cr_skip_test("gnuplot is not installed");
    const char *csv = in_dir("it's; $(a) name.csv"), *svg = in_dir("it's a curve.svg");
    put_metrics(csv);
    cr_assert_eq(mt_curve_svg(svg, csv, &curve), MT_OK, "%s", mt_last_error());
    cr_expect(strstr(text_of(svg), "<svg") != NULL && strstr(text_of(svg), "a title") != NULL);
}

/* How many labels of the left axis are numbers from low to high. In the picture they stand in elements of their own. */
static int labels(const char *svg, double low, double high)
{
    int count = 0;
    for (const char *at = text_of(svg); (at = strstr(at, "<tspan")); at++) {
        char *end;
        const char *text = strchr(at, '>') + 1;
        double value = strtod(text, &end);
        count += end > text && *end == '<' && value >= low && value <= high;
    }
    return count;
}

/* The points of the lines, which begin with the sample in the key: the two ends of a short stroke. */
static int points(const char *svg, const char *color)
{
    int count = 0;
    const char *at = strstr(text_of(svg), color), *end = at ? strstr(at, "/>") : NULL;
    for (; at && (at = strpbrk(at, "ML")) && at < end; at++)
        count++;
    return count - 2;
}

static void put_rows(const char *path, const char *rows)
{
    mt_metrics *metrics;
    cr_assert_eq(mt_metrics_open(&metrics, path, "epoch,loss,val_loss"), MT_OK);
    mt_metrics_row(metrics, "%s", rows);
    mt_metrics_close(metrics);
}

/* A loss that falls from 4.2 to 3.1 has labels between them, one from 3 to 0.02 those of 1, 2 and 5, and one over five
 * decades the powers of ten; in between there are no others, and no value is outside. */
Test(curve, the_axis_of_a_curve_fits_its_range)
{
    if (system("command -v gnuplot >/dev/null") != 0)
        cr_skip_test("gnuplot is not installed");
    const char *csv = in_dir("m.csv"), *svg = in_dir("c.svg");
    mt_curve two = curve;
    two.line[1].column = "val_loss", two.line[1].label = "the other";
    put_rows(csv, "100,,4.2\n200,3.9,\n300,3.5,3.6\n400,3.2,\n500,3.1,3.3");
    cr_assert_eq(mt_curve_svg(svg, csv, &two), MT_OK, "%s", mt_last_error());
    cr_expect(labels(svg, 3.1, 4.2) >= 4 && labels(svg, 0, 2.9) == 0 && labels(svg, 4.4, 90) == 0);
    cr_expect_eq(points(svg, "31,  95, 168"), 4, "%d", points(svg, "31,  95, 168"));
    cr_expect_eq(points(svg, "111, 168, 220"), 3, "a line goes on where a value is missing");
    put_rows(csv, "100,3,nan\n200,0.3,\n300,0.02,0.5");
    cr_assert_eq(mt_curve_svg(svg, csv, &two), MT_OK, "%s", mt_last_error());
    cr_expect_eq(labels(svg, 0.02, 3), 7, "0.02, 0.05, 0.1 ... 2: %d", labels(svg, 0.02, 3));
    cr_expect(labels(svg, 0, 0.011) == 0 && labels(svg, 4, 90) == 0);
    put_rows(csv, "100,3,\n200,0.3,\n300,0.00003,0.5");
    cr_assert_eq(mt_curve_svg(svg, csv, &two), MT_OK, "%s", mt_last_error());
    cr_expect_eq(labels(svg, 1e-5, 9), 5, "%d", labels(svg, 1e-5, 9));
    put_rows(csv, "100,-1,\n200,100,\n300,50,3"); /* not positive: linear */
    cr_assert_eq(mt_curve_svg(svg, csv, &two), MT_OK, "%s", mt_last_error());
    cr_expect(labels(svg, 19, 21) + labels(svg, 39, 41) + labels(svg, 59, 61) + labels(svg, 79, 81) == 4);
}

Test(curve, fails_without_a_trace)
{
    if (system("command -v gnuplot >/dev/null") != 0)
        cr_skip_test("gnuplot is not installed");
    const char *svg = in_dir("curve.svg");
    cr_assert(freopen("/dev/null", "w", stderr) != NULL); /* gnuplot will complain */
    cr_expect_eq(mt_curve_svg(svg, in_dir("nonesuch.csv"), &curve), MT_ERR_IO);
    cr_expect(rmdir(temp_dir) == 0, "something was left behind");
}

Test(curve, to_a_path_that_cannot_be_written_prints_nothing)
{
    if (system("command -v gnuplot >/dev/null") != 0)
        cr_skip_test("gnuplot is not installed");
    const char *csv = in_dir("m.csv"), *printed = in_dir("printed");
    put_metrics(csv);
    cr_assert(freopen(printed, "w", stdout) != NULL && freopen("/dev/null", "w", stderr) != NULL);
    cr_expect_eq(mt_curve_svg(in_dir("nonesuch/c.svg"), csv, &curve), MT_ERR_IO);
    cr_expect(strstr(mt_last_error(), "nonesuch/c.svg: No such file") != NULL, "%s", mt_last_error());
    cr_expect_str_eq(text_of(printed), "", "gnuplot drew onto standard output");
}

Test(curve, without_gnuplot)
{
    const char *csv = in_dir("m.csv");
    put_metrics(csv);
    setenv("PATH", "/nonesuch", 1);
    cr_expect_eq(mt_curve_svg(in_dir("c.svg"), csv, &curve), MT_ERR_UNAVAILABLE);
    setenv("PATH", "/usr/bin:/bin", 1);
    cr_expect(strstr(mt_last_error(), "apt install gnuplot") != NULL, "%s", mt_last_error());
}

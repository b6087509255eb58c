/* curve.c -- draws the numbers of a training run, FOLDER/metrics.csv, as FOLDER/curve.svg. Training programs start it
 * at their end. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "prof/curve.h"

/* Columns that are drawn when a file has them; the first column is the horizontal axis. */
static const struct {
    const char *column, *label;
    mt_curve_axis axis;
} known[] = {
    { "loss", "training loss", MT_CURVE_LEFT },
    { "val_loss", "validation loss", MT_CURVE_LEFT },
    { "val_accuracy", "validation accuracy", MT_CURVE_RIGHT },
};

static const mt_option flags[] = { { 0 } };

/* Takes the names of the first line apart; they stay in `line`. */
static mt_curve curve_of(char *line)
{
    mt_curve curve = { .title = "training", .left = "loss" };
    int lines = 0;
    for (char *name = strtok(line, ",\n"); name; name = strtok(NULL, ",\n")) {
        curve.x = curve.x ? curve.x : name;
        for (int64_t k = 0; k < MT_COUNT(known); k++) {
            if (strcmp(name, known[k].column) != 0)
                continue;
            curve.line[lines].column = known[k].column;
            curve.line[lines].label = known[k].label;
            curve.line[lines++].axis = known[k].axis;
            if (known[k].axis == MT_CURVE_RIGHT)
                curve.right = known[k].label;
        }
    }
    return curve;
}

int main(int argc, char **argv)
{
    char csv[4096], svg[4096], names[4096] = "", row[4096];
    int64_t rows = 0;
    mt_words words = mt_cli_parse_words(argc, argv, "Draw DIR/metrics.csv as DIR/curve.svg.", flags, NULL, "[DIR]", 1);
    const char *folder = words.count ? words.item[0] : "build/run/mnist";
    snprintf(csv, sizeof csv, "%s/metrics.csv", folder);
    snprintf(svg, sizeof svg, "%s/curve.svg", folder);
    FILE *file = fopen(csv, "re");
    if (!file || !fgets(names, sizeof names, file))
        return mt_cli_exit(mt_fail(MT_ERR_IO, "%s: there are no numbers", csv));
    while (fgets(row, sizeof row, file))
        rows++;
    fclose(file);
    mt_curve curve = curve_of(names);
    if (rows < 2)
        printf("The numbers are in %s; a curve takes two rows\n", csv);
    else if (mt_curve_svg(svg, csv, &curve) == MT_OK)
        printf("The curve is in %s, its numbers in %s\n", svg, csv);
    else
        printf("The numbers are in %s; %s\n", csv, mt_last_error());
    return 0;
}

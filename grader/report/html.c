/* html.c -- see html.h. Colours have a contrast of at least 4.5 to the page, in both modes. */
#include "report/html.h"
#include "text.h"

#include <math.h>

static const char style[] =
    ":root { color-scheme: light dark; --page: #fff; --ink: #1c2024; --faint: #59616a; --line: #d9dde2;\n"
    "  --soft: #f3f5f7; --good: #146c36; --bad: #b3261e; --todo: #805200; --other: #7a3e9d; --bar: #3b6fb5;\n"
    "  --link: #1f5fa8; --zone: #cfe6d6; --mark: #ffe9a8; }\n"
    "@media (prefers-color-scheme: dark) { :root { --page: #15181b; --ink: #e6e8ea; --faint: #a3abb3;\n"
    "  --line: #363c43; --soft: #1e2226; --good: #5fce89; --bad: #ff8a80; --todo: #e5b454; --other: #cf9bee;\n"
    "  --bar: #6f9fe0; --link: #8ab8f0; --zone: #24452f; --mark: #544314; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0; }\n"
    "main { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }\n"
    "h1 { margin: 0; line-height: 1.2; } h2 { margin: 2.2rem 0 .6rem; line-height: 1.25; }\n"
    "h3 { margin: 0; font-size: 1.05rem; } p { margin: .4rem 0; } ul.plain { list-style: none; padding: 0; }\n"
    "a { color: var(--link); } a:focus-visible, summary:focus-visible, [tabindex]:focus-visible\n"
    "  { outline: 3px solid var(--link); outline-offset: 2px; }\n"
    "nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: 1rem 0; list-style: none; }\n"
    ".score { font-size: 1.5rem; } .faint, caption, figcaption { color: var(--faint); font-size: .9rem; font-weight: "
    "400; }\n"
    "table { border-collapse: collapse; width: 100%; } caption { text-align: left; padding-bottom: .4rem; }\n"
    "th, td { text-align: left; padding: .35rem .5rem; vertical-align: top; border-top: 1px solid var(--line); }\n"
    "thead td { border-top: 0; } td.bar { width: 45%; }\n"
    "thead th { border-top: 0; color: var(--faint); font-weight: 600; font-size: .9rem; vertical-align: bottom; }\n"
    "tbody th { font-weight: 600; white-space: nowrap; }\n"
    ".number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }\n"
    "thead .number { white-space: normal; }\n"
    "tbody .words { overflow-wrap: anywhere; white-space: normal; }\n"
    ".verdict { font-weight: 600; } .PASS { color: var(--good); } .FAIL, .CRASH, .TIMEOUT { color: var(--bad); }\n"
    ".TODO { color: var(--todo); } .INCONCLUSIVE, .REVIEW, .SKIPPED, .ERROR { color: var(--other); }\n"
    ".scroll { overflow-x: auto; } .scroll table { min-width: 44rem; }\n"
    ".scroll tbody th { min-width: 13rem; white-space: normal; font-weight: 400; } .kind { white-space: nowrap; }\n"
    "article { border: 1px solid var(--line); border-left: .3rem solid var(--bad); border-radius: .3rem;\n"
    "  padding: .7rem .9rem; margin: 0 0 1rem; }\n"
    ".hint, .next, .warning { border-left: .3rem solid var(--todo); padding: .1rem 0 .1rem .7rem; margin: .6rem 0; }\n"
    ".next { border-color: var(--link); } code, pre { font: .85rem/1.45 ui-monospace, monospace; }\n"
    "pre { background: var(--soft); border-radius: .3rem; padding: .6rem .7rem; margin: .4rem 0; overflow-x: auto; }\n"
    "pre.wrap, p code, li code { white-space: pre-wrap; overflow-wrap: anywhere; }\n"
    "pre .n { color: var(--faint); user-select: none; } pre mark { background: var(--mark); color: var(--ink); }\n"
    "summary { cursor: pointer; } details { margin: .4rem 0; }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .9rem; margin: .5rem 0; }\n"
    "dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; } figure { margin: 1rem 0; }\n"
    "svg { display: block; width: 100%; } svg.share { height: .6rem; min-width: 3rem; margin-top: .45rem; }\n"
    "svg.bar { height: 1.4rem; } svg.plot { height: auto; max-width: 36rem; }\n"
    "svg.banks { min-width: 32rem; max-width: 48rem; }\n"
    ".track { fill: var(--line); } .value { fill: var(--bar); } .zone { fill: var(--zone); }\n"
    ".edge { stroke: var(--ink); stroke-width: 2; vector-effect: non-scaling-stroke; fill: none; }\n"
    ".dashed { stroke-dasharray: 3 3; } .thin { stroke: var(--faint); stroke-width: 1; }\n"
    "svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg text.small { fill: var(--faint);\n"
    "  font-size: 10px; } .cell { fill: var(--bar); stroke: var(--page); } .hot { fill: var(--bad); }\n"
    ".oncell { fill: var(--page) !important; font-size: 8px !important; }\n"
    ".measured { display: flex; justify-content: space-between; gap: 1rem; } .measured + svg { margin: .15rem 0; }\n"
    "@media (max-width: 30rem) { body { font-size: 15px; } th, td { padding: .3rem .25rem; } dl { display: block; }\n"
    "  dd { margin-bottom: .3rem; } h2 { font-size: 1.3rem; } .wide { display: none; } }\n"
    "@media print { body { font-size: 11pt; } main { max-width: none; padding: 0; } nav { display: none; }\n"
    "  article, tr, figure { break-inside: avoid; } pre { white-space: pre-wrap; border: 1px solid var(--line); }\n"
    "  .scroll { overflow: visible; } details::details-content { content-visibility: visible; height: auto; } }\n";

void mg_put_element(FILE *out, const char *open, const char *text, const char *close)
{
    fputs(open, out);
    mg_put(out, text, MG_HTML);
    fputs(close, out);
}

void mg_page_begin(FILE *out, const char *title, const char *heading)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
          out);
    mg_put_element(out, "<title>", title, "</title>\n<style>\n");
    fputs(style, out);
    mg_put_element(out, "</style>\n</head>\n<body>\n<main>\n<h1>", heading, "</h1>\n");
}

void mg_page_end(FILE *out)
{
    fputs("</main>\n</body>\n</html>\n", out);
}

void mg_put_share(FILE *out, double part, double whole)
{
    double share = whole > 0 ? fmin(fmax(part / whole, 0), 1) : 0; /* fmax ignores NaN */
    fprintf(out,
            "<svg class=\"share\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
            "<rect class=\"track\" width=\"100\" height=\"10\"/><rect class=\"value\" width=\"%.1f\" height=\"10\"/>"
            "</svg>",
            100 * share);
}

char *mg_seconds(char buffer[32], double seconds)
{
    double s = fmin(fmax(seconds, 0), 1e9);
    snprintf(buffer, 32, s < 10 ? "%.2f s" : s < 120 ? "%.0f s" : "%.0f min", s < 120 ? s : s / 60);
    return buffer;
}

/* The fixed parts of a report. The page loads nothing: style and script are here. */
#include "lab/page.h"

#include <math.h>

void mor_page_number(FILE* out, const char* format, double v)
{
    if (!isfinite(v)) {
        fputs("<td class=\"n\" data-v=\"1e300\">–</td>", out);
        return;
    }
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">", v);
    fprintf(out, format, v);
    fputs("</td>", out);
}

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src "
    "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
    "<title>";
static const char style[] =
    "</title>\n<style>\n"
    "body{font:14px/1.45 system-ui,sans-serif;color:#222;max-width:1240px;margin:1.5em auto;padding:0 1em}\n"
    "h1{font-size:1.6em;margin:.2em 0}h2{font-size:1.25em;margin:1.8em 0 .3em;border-bottom:1px solid "
    "#ccc}h3{margin:1em 0 .2em}\n"
    "code{background:#f3f3f3;padding:0 .25em}.dim{color:#666}.warn{background:#fff3cd;padding:.5em}\n"
    "nav a{margin-right:.9em}\n"
    "table{border-collapse:collapse;font-size:12.5px;font-variant-numeric:tabular-nums;margin:.6em 0}\n"
    "th,td{padding:2px 9px;text-align:left;border-bottom:1px solid #e6e6e6}.n{text-align:right;white-space:nowrap}\n"
    "thead th{background:#f4f5f7;position:sticky;top:0;vertical-align:bottom}table.sort th,#runs-table "
    "th{cursor:pointer}\n"
    "th.up::after{content:\" \\25B2\";font-size:.7em}th.down::after{content:\" \\25BC\";font-size:.7em}\n"
    "tbody tr:hover{background:#f8fafc}\n"
    ".bar{background:linear-gradient(90deg,#cfe6d8 var(--w),transparent var(--w))}\n"
    ".tall{max-height:460px;overflow:auto;border:1px solid #e6e6e6}\n"
    "@media screen{#runs-table td:last-child{min-width:260px}}\n"
    ".charts{display:flex;flex-wrap:wrap;gap:14px 10px;margin:.6em 0}.chart{max-width:100%;height:auto}\n"
    ".chart "
    "text{font-family:inherit}.tick{font-size:10px;fill:#444}.label{font-size:11px;fill:#222}.title{font-size:12.5px;"
    "font-weight:600;fill:#111}\n"
    ".grid{stroke:#ececec}.box{fill:none;stroke:#777}.key{cursor:default}.chart.pick .s{opacity:.12}.chart.pick "
    ".s.on{opacity:1;stroke-width:2.6}\n"
    ".key.off{opacity:.35}.key:focus-visible,th:focus-visible,tr:focus-visible{outline:2px solid #2b6cb0}\n"
    "figure{margin:0;position:relative}figcaption{font-size:12px;color:#666;max-width:460px}\n"
    ".csv{font-size:10px;padding:0 4px;cursor:pointer;position:absolute;right:4px;top:0}.charts>.csv{position:static;"
    "align-self:start;margin-left:-44px}#problem:focus{outline:none}\n"
    ".stack{position:relative}.stack "
    "svg{position:relative;display:block}.dots{position:absolute;left:0;top:0;width:470px;"
    "height:290px}\n"
    ".brush{fill:#2b6cb0;fill-opacity:.15;stroke:#2b6cb0}.cover{cursor:crosshair}.near{cursor:pointer}.band{opacity:.1}"
    ".before{stroke-width:1;stroke-dasharray:1.5 2.5}\n"
    "#hint{position:absolute;display:none;pointer-events:none;background:#222;color:#fff;font-size:12px;padding:3px "
    "7px;"
    "border-radius:3px;max-width:250px;z-index:9}\n"
    ".controls label{margin-right:1em}.controls "
    "select,.controls button{font:inherit}.space{width:300px;height:287px;touch-action:none;cursor:grab}.bad "
    "td{color:#b00020}#problem-table tbody tr{cursor:pointer}.why{max-width:420px;align-self:center}\n"
    ".small{max-width:300px;padding-top:18px}.small .csv{right:0}#x-profile{flex-direction:column}.controls "
    "button{margin-right:1em}.in-viewer{margin:.6em 0}.in-viewer "
    "figcaption{max-width:none}.viewer{width:100%;height:520px;border:1px solid "
    "#ccc;border-radius:4px}\n"
    "@media(prefers-color-scheme:dark){body{background:#16181c;color:#dde1e7}a{color:#8ab4f8}code,thead "
    "th{background:#24272d}th,td{border-color:#343840}h2{border-color:#444}.dim,figcaption{color:#9aa2ad}tbody "
    "tr:hover{background:#1f2329}.tick,.label{fill:#c4cad3}.title{fill:#e8ecf1}.grid{stroke:#2a2e35}.box{stroke:#"
    "7a828e}"
    ".tall{border-color:#343840}.warn{background:#4a3b10}.bar{background:linear-gradient(90deg,#23513a "
    "var(--w),transparent var(--w))}#hint{background:#e8ecf1;color:#111}input,select,button{background:#24272d;"
    "color:#dde1e7;border:1px solid #444}.bad "
    "td{color:#ff8a80}[stroke=\"#262626\"]{stroke:#e8ecf1}.viewer{border-color:#343840}.band{opacity:.18}}\n"
    "@media "
    "print{body{max-width:none;font-size:11px}.tall{max-height:none;overflow:visible}nav,input,.csv,.controls,#hint,"
    ".in-viewer{display:none}h2,svg{"
    "break-inside:avoid}}\n"
    "</style></head><body>\n";

void mor_page_begin(FILE* out, const char* title) { fprintf(out, "%s%s%s", head, title, style); }

const char mor_page_rules[] =
    "<h2 id=\"rules\">Rules of this comparison</h2><ul>\n"
    "<li>Every solver gets the same problem in memory, made from the same stored frame by the same code; forms a "
    "solver does not take are converted exactly, "
    "and the conversion is part of the total time.</li>\n"
    "<li>One judge: a run is solved if the error that mor_judge finds in the answer, on the problem as the formulation "
    "posed it, is within the tolerance. What a solver says of itself does not count. "
    "For steps the error is a velocity in m/s (tolerances below rounding are raised to it, for all alike); for other "
    "forms it is the relative natural map.</li>\n"
    "<li>The start is the same for all, zero or the stored impulses, as said above. No answer of one solver is "
    "another's start, and nobody gets a pre-solve.</li>\n"
    "<li>Equal limits of time and memory. A run over the limit, refused, crashed or ended by force is a failure and "
    "counts as one in every profile. What was too slow for a tolerance is not tried on a "
    "tighter one, and what was too slow on two frames is not tried on larger ones of the same file or family (--assume "
    "nothing does); both count as too slow. Every third of these larger ones is tried all the same, and if it is "
    "solved, so are all smaller ones that were left out.</li>\n"
    "<li>Options are the defaults of each method, listed below; none is tuned to a problem.</li>\n"
    "<li>Times are CPU seconds of one process on one thread; solves shorter than 4 ms are repeated from the same start "
    "and averaged. "
    "Profiles use the total: conversion, solve and judging.</li>\n"
    "<li>Profiles are made per formulation, so that only answers to the same question are compared. Problems that "
    "nobody solves stay in the set.</li>\n"
    "<li>Solver “auto” chooses among the others; its line is what a user gets who does not choose.</li></ul>\n";

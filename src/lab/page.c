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
    ".charts{display:flex;flex-wrap:wrap;gap:14px 10px;margin:.6em 0}.chart{max-width:100%;height:auto}\n"
    ".chart "
    "text{font-family:inherit}.tick{font-size:10px;fill:#444}.label{font-size:11px;fill:#222}.title{font-size:12.5px;"
    "font-weight:600;fill:#111}\n"
    ".grid{stroke:#ececec}.box{fill:none;stroke:#777}.key{cursor:default}.chart.pick .s{opacity:.12}.chart.pick "
    ".s.on{opacity:1;stroke-width:2.6}\n"
    "@media "
    "print{body{max-width:none;font-size:11px}.tall{max-height:none;overflow:visible}nav,input{display:none}h2,svg{"
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

const char mor_page_foot[] =
    "<script>\n"
    "function key(c){return c.dataset.v!==undefined?+c.dataset.v:c.textContent}\n"
    "function cmp(a,b){return typeof a==='number'&&typeof b==='number'?a-b:String(a).localeCompare(String(b))}\n"
    "function "
    "mark(t,th,d){t.querySelectorAll('th').forEach(h=>h.classList.remove('up','down'));th.classList.add(d>0?'up':'down'"
    ")}\n"
    "document.querySelectorAll('table.sort').forEach(t=>t.querySelectorAll('th').forEach((th,i)=>th.onclick=()=>{\n"
    " const d=th.classList.contains('up')?-1:1,b=t.tBodies[0];\n"
    " [...b.rows].sort((x,y)=>d*cmp(key(x.cells[i]),key(y.cells[i]))).forEach(r=>b.append(r));mark(t,th,d)}));\n"
    "const rt=document.getElementById('runs-table'),rf=document.getElementById('filter'),most=400;let "
    "order=runs.slice();\n"
    "function show(){const w=rf.value.toLowerCase().split(/\\s+/).filter(x=>x);\n"
    " const hit=order.filter(r=>{const s=r.join(' ').toLowerCase();return w.every(x=>s.includes(x))});\n"
    " rt.tBodies[0].replaceChildren(...hit.slice(0,most).map(r=>{const tr=document.createElement('tr');\n"
    "  r.forEach((v,i)=>{const td=tr.insertCell();td.textContent=v===null?'–':typeof "
    "v==='number'&&i>5?v.toExponential(2):v;if(typeof v==='number'||v===null)td.className='n'});return tr}));\n"
    " document.getElementById('count').textContent=hit.length+' of '+runs.length+(hit.length>most?', the first "
    "'+most+' shown':'')}\n"
    "rt.querySelectorAll('th').forEach((th,i)=>th.onclick=()=>{const d=th.classList.contains('up')?-1:1;\n"
    " order.sort((x,y)=>d*cmp(x[i]===null?1e300:x[i],y[i]===null?1e300:y[i]));mark(rt,th,d);show()});\n"
    "rf.oninput=show;show();\n"
    "document.querySelectorAll('.key').forEach(k=>{const s=k.closest('svg');\n"
    " k.onmouseenter=()=>{s.classList.add('pick');s.querySelectorAll('.'+k.dataset.c).forEach(e=>e.classList.add('on'))"
    "};\n"
    " k.onmouseleave=()=>{s.classList.remove('pick');s.querySelectorAll('.on').forEach(e=>e.classList.remove('on'))}});"
    "\n"
    "</script></body></html>\n";

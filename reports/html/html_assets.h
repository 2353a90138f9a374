#pragma once

#include <string_view>

namespace mpsprobe {

/// The style sheet of the HTML report, the charts' own apart.
inline constexpr std::string_view kHtmlStyle =
    R"(:root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--paper:#fff;--line:#d0d7de;
--h0:#d9f2df;--h1:#fff1cc;--h2:#ffd9a8;--h3:#ffb59a;--h4:#ff9492;--link:#0550ae}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--paper:#0d1117;
--line:#3d444d;--h0:#12381f;--h1:#4a3a0c;--h2:#5c3510;--h3:#6b2a17;--h4:#7d1c22;--link:#79c0ff}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;
max-width:80rem;padding:0 1rem 4rem}
a{color:var(--link)}h1{font-size:1.4rem;margin:.7rem 0 .3rem}h1+p{margin:0}h2{margin-top:2.2rem;border-bottom:1px solid var(--line)}
.class{position:sticky;top:0;z-index:2;margin:0 -1rem;padding:.6rem 1rem;font-weight:700;
color:#000;background:repeating-linear-gradient(45deg,#ffd33d 0 14px,#ffe68a 14px 28px);
border-bottom:3px solid #000}
table{border-collapse:collapse;margin:.6rem 0}caption{text-align:left;font-weight:600}
th,td{border:1px solid var(--line);padding:.2rem .5rem;text-align:left;vertical-align:top}
.map td{text-align:center;white-space:nowrap}.map td a{color:inherit;display:block}
.h0{background:var(--h0)}.h1{background:var(--h1)}.h2{background:var(--h2)}
.h3{background:var(--h3)}.h4{background:var(--h4)}.map .h4{font-weight:700}
.refused{background:repeating-linear-gradient(45deg,transparent 0 6px,var(--line) 6px 7px)}
.builds{list-style:none;padding:0}.builds li{margin:.3rem 0;padding:.4rem .7rem;font-size:1.05rem}
.first{display:flex;flex-wrap:wrap;gap:0 2rem;align-items:start}.first .wide{max-width:100%}
.answer{padding-left:1.2rem}.answer li{margin:.3rem 0}
.wide{overflow-x:auto}pre{overflow-x:auto;border:1px solid var(--line);padding:.6rem}
code{overflow-wrap:anywhere}.soft{color:var(--soft)}.unexpected{outline:3px solid currentColor}
.filters{display:flex;flex-wrap:wrap;gap:.8rem;align-items:end}
:focus-visible{outline:3px solid var(--link);outline-offset:1px}
#cells tbody tr{content-visibility:auto;contain-intrinsic-size:auto 1.9rem}
#cells tbody tr:target{outline:3px solid var(--link)}[hidden]{display:none!important}
@media print{.filters{display:none}.class{position:static}}
)";

/// Its script, filters and arrow keys.
inline constexpr std::string_view kHtmlScript = R"('use strict';
const rows=[...document.querySelectorAll('#cells tbody tr')];
const texts=rows.map(row=>row.textContent.toLowerCase());
const text=document.getElementById('text'),verdict=document.getElementById('verdict'),
shown=document.getElementById('shown');
function filter(){const words=text.value.toLowerCase().split(/\s+/).filter(Boolean);let n=0;
rows.forEach((row,i)=>{const on=words.every(w=>texts[i].includes(w))&&
(!verdict.value||row.dataset.v===verdict.value);row.hidden=!on;n+=on?1:0});
shown.textContent=n+' of '+rows.length+' cells shown'}
text.addEventListener('input',filter);verdict.addEventListener('change',filter);
document.querySelectorAll('.map').forEach(map=>{const links=[...map.querySelectorAll('td a')];
links.forEach((a,i)=>{a.tabIndex=i?-1:0})});
document.addEventListener('keydown',event=>{const at=event.target;
if(event.key==='/'&&at!==text){event.preventDefault();text.focus();return}
if(event.key==='Escape'&&at===text){text.value='';filter();return}
const td=at.closest&&at.closest('.map td');if(!td)return;
const by={ArrowRight:[0,1],ArrowLeft:[0,-1],ArrowDown:[1,0],ArrowUp:[-1,0]}[event.key];if(!by)return;
event.preventDefault();const all=td.closest('table').rows;
let row=td.parentElement.rowIndex,column=td.cellIndex,next;
do{row+=by[0];column+=by[1];const cell=all[row]&&all[row].cells[column];if(!cell)return;
next=cell.querySelector('a')}while(!next);
at.tabIndex=-1;next.tabIndex=0;next.focus()});
addEventListener('hashchange',()=>{const row=document.getElementById(location.hash.slice(1));
if(row&&row.hidden){text.value='';verdict.value='';filter();row.scrollIntoView()}});
document.querySelector('.filters').hidden=false;filter();
)";

/// "sha256-...", as the page's policy names the script; html_test compares the two.
inline constexpr std::string_view kHtmlScriptHash =
    "sha256-sawe8zLjrj63eHC15+3IflEOoYco0IEydsnM7pshtfc=";

}  // namespace mpsprobe

// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/pictures/html.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "exir/json/json_text.h"
#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {
namespace {

using json = nlohmann::ordered_json;

constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Memory plan</title>
<style>
body { font: 13px sans-serif; margin: 12px; color: #222; }
h1 { font-size: 16px; margin: 0 0 8px; }
#bar > * { margin-right: 12px; }
#view { display: flex; gap: 12px; margin-top: 8px; }
canvas { border: 1px solid #bbb; width: 100%; height: 70vh; cursor: crosshair; }
#left { flex: 1; min-width: 0; }
#right { width: 300px; height: 70vh; overflow: auto; }
table { border-collapse: collapse; width: 100%; }
td { padding: 1px 6px 1px 0; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
.chip { display: inline-block; width: 10px; height: 10px; margin-right: 4px; }
</style>
</head>
<body>
<h1 id="title"></h1>
<div id="bar">
<select id="pool" aria-label="pool"></select>
<input id="find" type="search" placeholder="find a buffer" aria-label="find">
<button id="reset">whole plan</button>
<span id="summary"></span>
</div>
<div id="view">
<div id="left"><canvas id="c"></canvas><div id="hint">wheel: zoom in time,
with shift in addresses; drag: move; point: who is alive</div></div>
<div id="right"></div>
</div>
<script type="application/json" id="data">)";

constexpr char kTail[] = R"(</script>
<script>
'use strict';
const plan = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const canvas = $('c'), ctx = canvas.getContext('2d');
let pool = 0, view = null, mouse = null, drag = null, picked = -1;

const groups = new Map();
for (const b of plan.buffers) {
  const key = b.group || b.id;
  if (!groups.has(key)) groups.set(key, groups.size);
  b.hue = groups.get(key) * 137.508 % 360;
}
const stretches = plan.stretches;  // [buffer, begin, end, low, high]
const count = n => n.toLocaleString('en');

function whole() {
  let lo = Infinity, hi = -Infinity;
  for (const s of stretches) { lo = Math.min(lo, s[1]); hi = Math.max(hi, s[2]); }
  if (lo > hi) { lo = 0; hi = 1; }
  const p = plan.pools[pool];
  return {t0: lo, t1: hi, a0: 0, a1: Math.max(1, p.peak, p.lower_bound) * 1.03};
}
const x = t => (t - view.t0) / (view.t1 - view.t0) * canvas.width;
const y = a => canvas.height - (a - view.a0) / (view.a1 - view.a0) * canvas.height;
const timeAt = px => view.t0 + px / canvas.width * (view.t1 - view.t0);
const addressAt = py => view.a0 + (canvas.height - py) / canvas.height * (view.a1 - view.a0);

function matches(b) {
  const text = $('find').value.toLowerCase();
  return text && (b.id.toLowerCase().includes(text) ||
                  (b.group || '').toLowerCase().includes(text));
}

function draw() {
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  const searching = $('find').value !== '';
  ctx.font = 12 * devicePixelRatio + 'px sans-serif';
  for (const s of stretches) {
    const b = plan.buffers[s[0]];
    if (b.pool !== pool || s[2] < view.t0 || s[1] > view.t1) continue;
    const left = x(s[1]), right = x(s[2]);
    const top = y(b.offset + s[4]), bottom = y(b.offset + s[3]);
    const strong = s[0] === picked || (searching && matches(b));
    ctx.fillStyle = `hsl(${b.hue},60%,${strong ? 50 : searching ? 90 : 74}%)`;
    ctx.fillRect(left, top, right - left, bottom - top);
    if (right - left > 3 && bottom - top > 3) {
      ctx.strokeStyle = strong ? '#000' : '#fff';
      ctx.strokeRect(left, top, right - left, bottom - top);
    }
    if (right - left > 60 && bottom - top > 16 * devicePixelRatio) {
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, right - left, bottom - top);
      ctx.clip();
      ctx.fillStyle = '#222';
      ctx.fillText(b.id, left + 4, top + 14 * devicePixelRatio);
      ctx.restore();
    }
  }
  const level = (address, colour, dash) => {
    ctx.strokeStyle = colour;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(0, y(address));
    ctx.lineTo(canvas.width, y(address));
    ctx.stroke();
    ctx.setLineDash([]);
  };
  level(plan.pools[pool].peak, '#000', []);
  level(plan.pools[pool].lower_bound, 'crimson', [6, 4]);
  if (mouse) {
    ctx.strokeStyle = '#888';
    ctx.beginPath();
    ctx.moveTo(mouse.x, 0);
    ctx.lineTo(mouse.x, canvas.height);
    ctx.stroke();
  }
}

function cell(row, text, number) {
  const td = row.insertCell();
  td.textContent = text;
  if (number) td.className = 'n';
  return td;
}

function tell() {
  const side = $('right');
  side.textContent = '';
  if (!mouse) return;
  const time = Math.floor(timeAt(mouse.x)), address = addressAt(mouse.y);
  let sum = 0;
  picked = -1;
  const alive = stretches.filter(s => plan.buffers[s[0]].pool === pool &&
                                      s[1] <= time && time < s[2]);
  for (const s of alive) {
    const b = plan.buffers[s[0]];
    sum += s[4] - s[3];
    if (b.offset + s[3] <= address && address < b.offset + s[4]) picked = s[0];
  }
  const line = text => {
    const div = document.createElement('div');
    div.textContent = text;
    side.append(div);
  };
  if (picked >= 0) {
    const b = plan.buffers[picked];
    line(`${b.id}: ${count(b.size)} bytes at ${count(b.offset)}`);
    line(`alive in [${b.lower}, ${b.upper})` + (b.group ? `, of ${b.group}` : ''));
    line('\u00a0');
  }
  line(`time ${time}: ${alive.length} buffers, ${count(sum)} bytes`);
  const table = document.createElement('table');
  alive.sort((p, q) => q[4] - q[3] - (p[4] - p[3]));
  for (const s of alive.slice(0, 200)) {
    const b = plan.buffers[s[0]], row = table.insertRow();
    const name = cell(row, b.id), chip = document.createElement('span');
    chip.className = 'chip';
    chip.style.background = `hsl(${b.hue},60%,74%)`;
    name.prepend(chip);
    if (s[0] === picked) row.style.fontWeight = 'bold';
    cell(row, count(s[4] - s[3]), true);
    cell(row, count(b.offset + s[3]), true);
  }
  side.append(table);
}

function update() { tell(); draw(); }

function resize() {
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
  draw();
}

function zoom(axis, at, factor) {
  const lo = axis + '0', hi = axis + '1';
  view[lo] = at - (at - view[lo]) * factor;
  view[hi] = at + (view[hi] - at) * factor;
}

const point = e => {
  const r = canvas.getBoundingClientRect();
  return {x: (e.clientX - r.left) * devicePixelRatio,
          y: (e.clientY - r.top) * devicePixelRatio};
};
canvas.addEventListener('wheel', e => {
  e.preventDefault();
  const at = point(e), delta = e.deltaY || e.deltaX;
  if (e.shiftKey) zoom('a', addressAt(at.y), Math.exp(delta / 500));
  else zoom('t', timeAt(at.x), Math.exp(delta / 500));
  mouse = at;
  update();
}, {passive: false});
canvas.addEventListener('pointerdown', e => {
  drag = point(e);
  canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener('pointerup', () => { drag = null; });
canvas.addEventListener('pointermove', e => {
  mouse = point(e);
  if (drag) {
    const t = timeAt(drag.x) - timeAt(mouse.x);
    const a = addressAt(drag.y) - addressAt(mouse.y);
    view.t0 += t; view.t1 += t; view.a0 += a; view.a1 += a;
    drag = mouse;
  }
  update();
});
canvas.addEventListener('pointerleave', () => { mouse = null; picked = -1; draw(); });
$('find').addEventListener('input', draw);
$('reset').addEventListener('click', () => { view = whole(); update(); });
$('pool').addEventListener('change', () => {
  pool = Number($('pool').value);
  view = whole();
  update();
});
addEventListener('resize', resize);

$('title').textContent = plan.title;
document.title = plan.title;
plan.pools.forEach((p, i) => {
  const option = document.createElement('option');
  option.value = i;
  option.textContent = `${p.name}: ${count(p.peak)} bytes, bound ${count(p.lower_bound)}`;
  $('pool').append(option);
});
$('summary').textContent = `peak ${count(plan.peak)}, lower bound ` +
    `${count(plan.lower_bound)}, ${plan.optimal ? 'proven optimal' : 'not proven optimal'}, ` +
    `${count(plan.buffers.length)} buffers`;
view = whole();
resize();
</script>
</body>
</html>
)";

}  // namespace

std::string render_html(const Problem& problem, const Solution& solution,
                        const std::string& title) {
  json data = {{"title", title},
               {"peak", solution.peak},
               {"lower_bound", solution.lower_bound},
               {"optimal", solution.optimal},
               {"pools", json::array()},
               {"buffers", json::array()},
               {"stretches", json::array()}};
  for (size_t p = 0; p < problem.pools.size(); ++p) {
    data["pools"].push_back({{"name", problem.pools[p].name},
                             {"peak", solution.pools[p].peak},
                             {"lower_bound", solution.pools[p].lower_bound}});
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const Placement& place = solution.placements[i];
    json entry = {{"id", buffer.id},
                  {"size", buffer.size},
                  {"pool", place.pool},
                  {"offset", place.offset},
                  {"lower", buffer.lifetime.begin},
                  {"upper", buffer.lifetime.end}};
    if (!buffer.group.empty()) entry["group"] = buffer.group;
    data["buffers"].push_back(std::move(entry));
  }
  for (const Stretch& s : stretches_by_begin(problem)) {
    data["stretches"].push_back(json::array({s.buffer, s.time.begin, s.time.end, s.low, s.high}));
  }
  std::string text = json_text(data);
  // Nothing in a name may end the script that holds the data.
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return absl::StrCat(kHead, safe, kTail);
}

}  // namespace petrel::exir::plan

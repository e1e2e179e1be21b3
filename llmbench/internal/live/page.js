"use strict";
const at = id => document.getElementById(id);
const digits = new Intl.NumberFormat("en", {maximumSignificantDigits: 3});
const whole = new Intl.NumberFormat("en");
const clock = text => new Date(text).toLocaleTimeString();
const known = text => text && !text.startsWith("0001-");

// make returns an element with children: elements, and texts.
function make(name, fields, ...children) {
  const e = Object.assign(document.createElement(name), fields);
  e.append(...children);
  return e;
}

function time(ns, n, least) {
  if (n < least) return n === 0 ? "none yet" : "needs " + least;
  return ns < 1e9 ? digits.format(ns / 1e6) + " ms" : digits.format(ns / 1e9) + " s";
}

function failures(run) {
  const all = Object.entries(run.failures || {}).sort();
  return {total: all.reduce((sum, f) => sum + f[1], 0), text: all.map(f => f[0] + " " + whole.format(f[1])).join(", ")};
}

function figure(name, value, detail) {
  return make("div", {}, make("dt", {}, name), make("dd", {}, value, ...(detail ? [make("small", {}, detail)] : [])));
}

const name = run => run.benchmark || run.file;
const link = run => make("a", {href: "report?run=" + encodeURIComponent(run.file)}, "report", make("span", {hidden: true}, " of " + name(run)));

// drawn returns an element of a picture.
function drawn(name, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

// chart draws values over time from 0: steps as bars or as a line, which a null breaks.
function chart(title, values, course, text, bars) {
  const known = values.filter(v => v !== null), most = Math.max(0, ...known), n = values.length;
  if (!known.length) return make("figure", {}, make("figcaption", {}, title, make("small", {}, "none yet")));
  const y = v => most ? 50 - 48 * v / most : 50;
  let path = "";
  values.forEach((v, i) => {
    const x = 240 * i / n, to = 240 * (i + 1) / n;
    if (v === null || bars && !v) return;
    if (bars) path += `M${x} 50V${y(v)}H${to}V50Z`;
    else path += `${i && values[i - 1] !== null ? "L" : "M"}${x} ${y(v)}H${to}`;
  });
  const least = Math.min(...known);
  const said = `${title}: ${text(known.at(-1))} at last, ${text(least)} to ${text(most)} from ${span(course)}`;
  const svg = drawn("svg", {viewBox: "0 0 240 52", preserveAspectRatio: "none", role: "img", "aria-label": said}, drawn("title", {}, said),
    drawn("path", {class: "base", d: "M0 50.5H240"}), drawn("path", {class: bars ? "bars" : "line", d: path}));
  return make("figure", {}, make("figcaption", {}, title, make("small", {}, least === most ? text(most) : text(least) + " to " + text(most))), svg);
}

// span is the time of a course.
function span(course) {
  const end = new Date(course.start).getTime() + course.tokens.length * course.stepMs;
  return clock(course.start) + " to " + clock(end);
}

// charts draws the course of a run.
function charts(c) {
  const step = c.stepMs < 60000 ? digits.format(c.stepMs / 1000) + " s" : digits.format(c.stepMs / 60000) + " min";
  const all = [];
  if (c.inFlight.some(v => v !== null)) all.push(chart("In flight, the most", c.inFlight, c, v => whole.format(v)));
  all.push(chart("Output tok/s", c.tokens, c, v => digits.format(v)), chart("TTFT, mean", c.ttft, c, v => time(1e6 * v, 1, 1)),
    chart("Failures", c.failed, c, v => whole.format(v), true));
  return make("div", {className: "charts"}, ...all, make("p", {className: "load"}, span(c) + " in steps of " + step + ", drawn from 0. A request counts when it ends."));
}

// card shows a run that goes on.
function card(run) {
  const failed = failures(run);
  const e = make("article", {className: "run"}, make("h3", {}, name(run)),
    make("p", {className: "load"}, [run.model, run.load, known(run.start) ? "since " + clock(run.start) : "", "written " + clock(run.changed)].filter(Boolean).join(" · ")));
  if (run.unread > 1 << 20) e.append(make("p", {className: "why"}, whole.format(Math.round(run.unread / 1e6)) + " MB are still to be read; the figures are of the beginning."));
  e.append(make("dl", {},
    figure("In flight", run.inFlight ? whole.format(run.inFlight) : "not known", !run.requests ? "until a request ends" : run.inFlight && known(run.at) ? "at " + clock(run.at) : "the records do not say"),
    figure("Requests ended", whole.format(run.requests), run.passes > 1 ? run.passes + " passes" : ""),
    figure("Failed", whole.format(failed.total), failed.text),
    figure("Output tok/s", digits.format(run.tokensPerS), digits.format(run.recentPerS) + " in the last 10 s"),
    figure("TTFT p50", time(run.ttft50, run.ttfts, 1), whole.format(run.ttfts) + " so far"),
    figure("TTFT p99", time(run.ttft99, run.ttfts, 100), run.ttfts < 100 ? "of successful requests" : "")));
  if (run.course) e.append(charts(run.course));
  return e;
}

// row shows a run that has ended.
function row(run) {
  const failed = failures(run), cell = (text, n) => make("td", {className: n ? "n" : ""}, text);
  const state = make("td", {}, make("span", {className: run.state === "ended" ? "ended" : "failed"}, run.state));
  if (run.why) state.append(make("div", {className: "why"}, run.why));
  const count = cell(whole.format(failed.total), true);
  if (failed.text) count.append(make("div", {className: "why"}, failed.text));
  return make("tr", {}, make("td", {}, name(run), make("div", {className: "load"}, [run.model, run.load].filter(Boolean).join(" · "))), state,
    cell(whole.format(run.requests), true), count, cell(digits.format(run.tokensPerS), true), cell(time(run.ttft50, run.ttfts, 1), true),
    cell(time(run.ttft99, run.ttfts, 100), true), cell(new Date(run.changed).toLocaleString()),
    run.requests > 0 && run.state !== "broken" ? make("td", {}, link(run)) : cell("–"));
}

function show(state) {
  at("folder").textContent = state.folder;
  const runs = state.runs || [], on = runs.filter(r => r.state === "running"), off = runs.filter(r => r.state !== "running");
  at("running").replaceChildren(...on.map(card));
  at("none").hidden = on.length > 0;
  for (const part of document.querySelectorAll(".ended-part")) part.hidden = !off.length;
  if (!at("ended").contains(document.activeElement)) at("ended").replaceChildren(...off.map(row));
  at("all").hidden = !off.some(r => r.state === "ended");
  at("hidden").textContent = state.hidden ? whole.format(state.hidden) + " older files are not shown." : "";
  status(state.why || on.length + " going on, " + off.length + " ended.");
  document.title = (on.length ? on.length + " going on" : "Runs") + " – " + state.folder;
}

function status(text) {
  if (at("status").textContent !== text) at("status").textContent = text;
}

// follow shows the events of the server. A browser itself asks again after a lost connection, but not after
// an answer that is no stream of events, such as that of a proxy.
function follow() {
  const events = new EventSource("events");
  events.onmessage = e => {
    document.body.classList.remove("lost");
    show(JSON.parse(e.data));
  };
  events.onerror = () => {
    document.body.classList.add("lost");
    status("The server does not answer; the figures are old. Asking again.");
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
  };
}
follow();

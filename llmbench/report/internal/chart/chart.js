"use strict";

// saveFile has the browser save a text as a file.
const saveFile = (name, type, text) => {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

// csvOf returns rows of cells as the text of a CSV file. A text that a spreadsheet would take for a formula is
// preceded by an apostrophe.
const csvOf = rows => {
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?( ?%)?$|^-$/i;
  const text = v => /^[=+\-@\t\r\n＝＋－＠]/.test(v) && !number.test(v) ? "'" + v : v;
  const cell = raw => (v => /[",\n\r]/.test(v) ? '"' + String(v).replaceAll('"', '""') + '"' : v)(text(raw));
  return rows.map(r => r.map(cell).join(",") + "\n").join("");
};

{
  // make returns an element with properties and children.
  const make = (tag, props, ...kids) => {
    const e = Object.assign(document.createElement(tag), props);
    e.append(...kids);
    return e;
  };

  // brief spells a number with three significant digits, and whole numbers with all.
  const brief = v => Number.isInteger(v) && Math.abs(v) < 1e5 ? String(v) : String(Number(v.toPrecision(3)));

  // said spells a number in the unit of an axis.
  const said = (v, axis) => (brief(v * (axis.scale ?? 1)) + " " + (axis.unit ?? "")).trim();

  const tip = make("div", { className: "tip", role: "status" });
  const dot = make("div", { className: "dot", hidden: true });

  // share returns where a number is on a scale, from 0 to 1. A number outside the scale is at its end.
  const share = (v, [lo, hi, log]) => Math.max(-0.01, Math.min(1.01, log ? Math.log(v / lo) / Math.log(hi / lo) : (v - lo) / (hi - lo)));

  // seen returns the drawing of a panel that is shown.
  const seen = panel => [...panel.querySelectorAll("svg")].find(s => s.getClientRects().length > 0);

  // places returns the points that are shown in a panel, with their places in the drawing.
  const places = (panel, data, off) => {
    const svg = seen(panel);
    const [left, right, top, bottom, ...rest] = svg.dataset.frame.split(" ").map(Number);
    const xs = rest.slice(0, 3), ys = rest.slice(3);
    const across = s => left + s * (right - left), up = s => bottom - s * (bottom - top);
    const all = [];
    data.series.forEach((set, series) => {
      if (off.has(set.s)) return;
      set.points.forEach((point, index) => {
        const [x, v, low = v, high = v] = point;
        if (ys[2] && v <= 0 || xs[2] && x <= 0) return;
        const at = { series, index, set, point };
        if (data.turned) {
          at.y = data.lanes ? top + share(x, xs) * (bottom - top) + (set.shift ?? 0) : up(share(x, xs));
          at.x = across(share(v, ys));
          at.from = across(share(Math.max(low, ys[0]), ys));
          at.to = across(share(high, ys));
        } else {
          at.x = at.from = at.to = across(share(x, xs));
          at.y = up(share(v, ys));
        }
        if (Number.isFinite(at.x) && Number.isFinite(at.y)) all.push(at);
      });
    });
    return { svg, all };
  };

  // value says the value of a point, with its range.
  const value = (data, { set, point }) => {
    const [x, v, low = v, high = v] = point;
    const [from, to] = [low, high].map(v => said(v, { ...data.y, unit: "" }));
    return said(v, data.y) + (from !== to ? " [" + from + ", " + to + "]" : "") + (data.by && !set.dots ? ", " + said(x, data.x) + " for each user" : "");
  };

  // text returns what is said of a point: the place, and the values of all series there. Those of the
  // other series have the ratio to the point's own value.
  const text = (data, names, all, at) => {
    const { set, point } = at;
    const [x, v, low = v, high = v, more, doubt] = point;
    const lines = [];
    if (data.lanes) {
      if (set.s >= 0) lines.push(names[set.s]);
      lines.push(data.lanes[x]);
      if (set.bars && low !== 0 && low !== high) {
        if (v !== low && v !== high) lines.push(data.name + ": " + said(v, data.y));
        lines.push(said(low, data.y) + " to " + said(high, data.y));
      } else lines.push((data.y.label ?? data.name) + ": " + said(v, data.y));
    } else {
      const label = data.x.label ?? "";
      lines.push(data.by ? more : data.x.unit || !label ? (label ? label + ": " : "") + said(x, data.x) : said(x, data.x) + " " + (x === 1 ? label.replace(/s$/, "") : label));
      const same = data.by ? p => p.point[4] === more && more : p => p.point[0] === x;
      const name = p => p.set.s >= 0 ? names[p.set.s] + ": " : "";
      lines.push(name(at) + value(data, at));
      for (const p of all) {
        if (p.series === at.series || p.set.dots || !same(p)) continue;
        const ratio = v > 0 && p.point[1] > 0 ? " (" + (p.point[1] / v).toFixed(2) + " times)" : "";
        lines.push(name(p) + value(data, p) + ratio);
      }
    }
    if (more && !data.by) lines.push(more);
    if (doubt) lines.push("In doubt: " + doubt);
    return lines.filter(Boolean).join("\n");
  };

  // show shows what is said of a point beside it.
  const show = (svg, at, words) => {
    const box = svg.getBoundingClientRect(), by = box.width / svg.viewBox.baseVal.width;
    const x = box.left + scrollX + at.x * by, y = box.top + scrollY + at.y * by;
    tip.textContent = words;
    dot.hidden = false;
    dot.style.left = x + "px";
    dot.style.top = y + "px";
    const wide = tip.offsetWidth, high = tip.offsetHeight;
    tip.style.left = Math.max(scrollX + 4, Math.min(x + 14, scrollX + document.documentElement.clientWidth - wide - 4)) + "px";
    tip.style.top = (y - high - 12 < scrollY ? y + 14 : y - high - 12) + "px";
  };
  const hide = () => { tip.textContent = ""; dot.hidden = true; };

  // nearest returns the point that is nearest to a place in the drawing.
  const nearest = (all, turned, x, y) => {
    let best, least = 60;
    for (const at of all) {
      const dx = at.set.bars ? Math.max(at.from - x, x - at.to, 0) : x - at.x, dy = y - at.y;
      const far = at.set.along ? turned ? Math.hypot(dy, dx / 4) : Math.hypot(dx, dy / 4) : Math.hypot(dx, dy);
      if (far < least) [best, least] = [at, far];
    }
    return best && best.set.bars ? { ...best, x: Math.min(Math.max(x, best.from), best.to) } : best;
  };

  // csv returns the data of a chart.
  const csv = data => {
    const rows = [["panel", "series", "place", "place of", "value", "low", "high", "unit", "note"]];
    for (const p of data.panels) {
      const of = [p.x.label, p.x.base ?? p.x.unit].filter(Boolean).join(" ");
      for (const s of p.series) {
        for (const [x, v, low = v, high = v, ...note] of s.points) {
          rows.push([p.name, data.names[s.s] ?? "", p.lanes ? p.lanes[x] : x, of, v, low, high, p.y.base ?? p.y.unit ?? "", note.join(" ").trim()]);
        }
      }
    }
    return csvOf(rows);
  };

  // picture returns the panels and the legend as they are shown, as one SVG.
  const picture = chart => {
    const ns = "http://www.w3.org/2000/svg", gap = 14;
    const all = [...chart.querySelectorAll(".panel")].map(seen);
    const size = s => s.viewBox.baseVal;
    const cols = Math.max(1, getComputedStyle(chart.querySelector(".panels")).gridTemplateColumns.split(" ").length);
    const wide = cols * (size(all[0]).width + gap) + gap;
    const out = document.createElementNS(ns, "svg");
    const place = (e, x, y, w, h) => {
      const copy = e.cloneNode(true);
      for (const [k, v] of Object.entries({ x, y, width: w, height: h })) copy.setAttribute(k, v);
      for (const gone of copy.querySelectorAll(".off")) gone.remove();
      for (const k of ["class", "role", "data-frame"]) copy.removeAttribute(k);
      out.append(copy);
    };
    const write = (x, y, size, words) => {
      const t = document.createElementNS(ns, "text");
      for (const [k, v] of Object.entries({ x, y, "font-size": size, fill: "var(--ink)" })) t.setAttribute(k, v);
      t.textContent = words;
      out.append(t);
    };
    let y = 26;
    write(gap, 20, 14, chart.dataset.title);
    for (let i = 0; i < all.length; i += cols) {
      const row = all.slice(i, i + cols);
      row.forEach((s, j) => place(s, gap + j * (size(s).width + gap), y, size(s).width, size(s).height));
      y += Math.max(...row.map(s => size(s).height)) + gap;
    }
    let x = gap;
    for (const key of chart.querySelectorAll(".legend li")) {
      if (key.querySelector("[aria-pressed=false]")) continue;
      const words = key.textContent.trim(), w = 40 + 7 * words.length;
      if (x > gap && x + w > wide) [x, y] = [gap, y + 18];
      place(key.querySelector("svg"), x, y, 26, 14);
      write(x + 30, y + 11, 11, words);
      x += w;
    }
    y += 24;
    out.setAttribute("font-family", "Liberation Sans,Arial,Helvetica,sans-serif");
    out.setAttribute("viewBox", `0 0 ${wide} ${y}`);
    out.setAttribute("width", wide);
    out.setAttribute("height", y);
    out.style.background = "var(--paper)";
    const colors = getComputedStyle(chart);
    return new XMLSerializer().serializeToString(out).replace(/var\((--\w+)\)/g, (_, name) => colors.getPropertyValue(name).trim());
  };

  // enable adds the controls of a chart.
  const enable = chart => {
    let parsed;
    const data = () => parsed ??= JSON.parse(chart.querySelector("script").textContent);
    const off = new Set();
    const panels = [...chart.querySelectorAll(".panel")];
    for (const key of chart.querySelectorAll(".legend li[data-s]")) {
      const button = make("button", { type: "button" }, ...key.childNodes);
      button.setAttribute("aria-pressed", "true");
      button.onclick = () => {
        const s = Number(key.dataset.s), hidden = !off.delete(s);
        if (hidden) off.add(s);
        button.setAttribute("aria-pressed", String(!hidden));
        for (const g of chart.querySelectorAll(`.panel g[data-s="${s}"]`)) g.classList.toggle("off", hidden);
        hide();
      };
      key.append(button);
    }
    const tools = make("div", { className: "tools" });
    const tool = (words, action) => {
      const b = make("button", { type: "button", textContent: words, onclick: () => action(b) });
      tools.append(b);
      return b;
    };
    const both = panels.filter(p => p.querySelector(".logarithmic"));
    if (both.length) {
      const of = both.every(p => p.classList.contains("log"));
      tool("Logarithmic", b => {
        const log = b.getAttribute("aria-pressed") !== "true";
        b.setAttribute("aria-pressed", String(log));
        for (const p of both) p.classList.toggle("log", log);
        hide();
      }).setAttribute("aria-pressed", String(of));
    }
    tool("Save SVG", () => saveFile(chart.dataset.id + ".svg", "image/svg+xml", picture(chart)));
    tool("Save CSV", () => saveFile(chart.dataset.id + ".csv", "text/csv", csv(data())));
    chart.append(tools);
    panels.forEach((panel, i) => {
      let at; // the point that the keyboard reached
      const tell = (svg, all, point) => {
        if (point) show(svg, point, text(data().panels[i], data().names, all, point));
        else hide();
      };
      panel.onpointermove = panel.onpointerdown = e => {
        const { svg, all } = places(panel, data().panels[i], off);
        const box = svg.getBoundingClientRect(), by = svg.viewBox.baseVal.width / box.width;
        tell(svg, all, nearest(all, data().panels[i].turned, (e.clientX - box.left) * by, (e.clientY - box.top) * by));
      };
      panel.onpointerleave = panel.onblur = hide;
      panel.tabIndex = 0;
      panel.setAttribute("role", "group");
      panel.setAttribute("aria-label", "Values of " + seenLabel(panel) + ". Arrow keys read them.");
      panel.onkeydown = e => {
        const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[e.key];
        if (e.key === "Escape") return hide();
        if (!step || e.altKey || e.ctrlKey || e.metaKey) return;
        e.preventDefault();
        const { svg, all } = places(panel, data().panels[i], off);
        const series = [...new Set(all.map(p => p.series))];
        if (!series.length) return;
        const was = at ? series.indexOf(at.series) : -1;
        const s = Math.max(0, Math.min(series.length - 1, (was < 0 ? 0 : was + step[0])));
        const points = all.filter(p => p.series === series[s]);
        const n = at ? points.findIndex(p => p.index >= at.index) : -1;
        at = points[Math.max(0, Math.min(points.length - 1, (at ? (n < 0 ? points.length - 1 : n) + step[1] : 0)))];
        tell(svg, all, at);
      };
    });
  };
  const seenLabel = panel => panel.querySelector("svg").getAttribute("aria-label");

  document.addEventListener("DOMContentLoaded", () => {
    document.body.append(tip, dot);
    document.querySelectorAll(".chart").forEach(enable);
  });
}

// Each function returns what is wrong with the page as it is shown.

const visible = e => e.checkVisibility() && e.getClientRects().length > 0;
const say = e => (e.tagName + " " + (e.closest("[id]")?.id ?? "") + ": " + e.textContent.trim()).slice(0, 100);

// overlaps finds texts of a drawing that overlap, or leave the drawing.
function overlaps() {
  const wrong = [];
  for (const svg of document.querySelectorAll(".panel svg")) {
    if (!visible(svg)) continue;
    const edge = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map(e => [e, e.getBoundingClientRect()]);
    texts.forEach(([e, b], i) => {
      if (b.left < edge.left - 1 || b.right > edge.right + 1 || b.top < edge.top - 1 || b.bottom > edge.bottom + 1) wrong.push("outside: " + say(e));
      for (const [o, c] of texts.slice(0, i)) {
        // The box of a line is higher than its letters.
        const high = 0.25 * Math.min(b.height, c.height);
        if (b.left < c.right - 1 && c.left < b.right - 1 && b.top < c.bottom - high && c.top < b.bottom - high) wrong.push(say(e) + " overlaps " + say(o));
      }
    });
    const size = Math.min(...texts.map(([, b]) => b.height));
    if (size < 8.5) wrong.push(`a text ${size} high: ` + say(svg));
  }
  return wrong;
}

// cutOff finds what is wider than its place.
function cutOff() {
  const wrong = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) wrong.push(`the page is ${root.scrollWidth} wide in a window of ${root.clientWidth}`);
  for (const cell of document.querySelectorAll("th, td, dt, dd, li, p, figcaption, h1, h2, h3, summary")) {
    if (!visible(cell) || cell.closest("thead") && getComputedStyle(cell.closest("thead")).position === "absolute") continue;
    const range = document.createRange();
    range.selectNodeContents(cell);
    const b = cell.getBoundingClientRect(), c = range.getBoundingClientRect();
    if (c.width > 0 && (c.right > b.right + 1 || c.left < b.left - 1)) wrong.push(say(cell));
  }
  // Values are out of sight only in tables with very many columns.
  for (const box of document.querySelectorAll(".table")) {
    if (visible(box) && box.scrollWidth > box.clientWidth + 1 && !box.querySelector("table.large")) wrong.push("hidden columns: " + box.getAttribute("aria-label"));
  }
  return wrong;
}

// names finds what a screen reader cannot name, ids that are not unique, and headings that skip
// a level.
function names() {
  const wrong = [];
  const ids = new Set();
  for (const e of document.querySelectorAll("[id]")) {
    if (ids.has(e.id)) wrong.push("id twice: " + e.id);
    ids.add(e.id);
  }
  for (const e of document.querySelectorAll("svg")) {
    if (e.getAttribute("aria-hidden") !== "true" && !(e.getAttribute("role") === "img" && e.getAttribute("aria-label"))) wrong.push("no name: " + say(e));
  }
  for (const e of document.querySelectorAll("button, a, summary, [role=group], [role=region]")) {
    if (!(e.getAttribute("aria-label") || e.textContent.trim())) wrong.push("no name: " + e.outerHTML.slice(0, 100));
  }
  for (const e of document.querySelectorAll("button, summary")) {
    if (visible(e) && !e.closest("table") && e.getBoundingClientRect().height < 23.5) wrong.push("too small: " + say(e)); // WCAG 2.2, 2.5.8
  }
  for (const e of document.querySelectorAll("a[href^='#']")) {
    if (!document.getElementById(e.getAttribute("href").slice(1))) wrong.push("leads nowhere: " + say(e));
  }
  let level = 0;
  for (const h of document.querySelectorAll("h1, h2, h3, h4")) {
    const n = Number(h.tagName[1]);
    if (n > level + 1) wrong.push("skips a level: " + say(h));
    level = n;
  }
  if (document.querySelectorAll("h1").length !== 1 || !document.documentElement.lang || !document.title) wrong.push("h1, lang or title");
  return wrong;
}

// contrast finds texts with a contrast below 4.5 and lines below 3
// (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio).
function contrast() {
  const wrong = new Set();
  const parse = c => c.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(v => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  for (const e of document.querySelectorAll("body *")) {
    if (!visible(e)) continue;
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    const style = getComputedStyle(e);
    if (own && e.tagName !== "SCRIPT") {
      const of = e.tagName === "text" ? style.fill : style.color;
      const r = ratio(parse(of), behind(e));
      if (r < 4.5) wrong.add(`${r.toFixed(2)}: ${of}: ${say(e)}`);
    }
    if (e.tagName === "path" && e.closest("[data-s]") && !e.closest("[aria-pressed=false]")) {
      const of = style.stroke !== "none" ? style.stroke : style.fill;
      const r = ratio(parse(of), behind(e));
      const faint = Number(style.fillOpacity) < 1 || of === getComputedStyle(document.body).backgroundColor;
      if (!faint && r < 3) wrong.add(`${r.toFixed(2)}: ${of}: a line`);
    }
  }
  return [...wrong];
}

// drawn finds panels that show no or several drawings, or one without points, and legends of
// one series.
function drawn() {
  const wrong = [];
  for (const panel of document.querySelectorAll(".panel")) {
    if (!visible(panel)) continue; // in a part that is folded
    const shown = [...panel.querySelectorAll("svg")].filter(visible);
    if (shown.length !== 1) wrong.push(shown.length + " drawings: " + say(panel));
    else if (![...shown[0].querySelectorAll("g[data-s] path")].some(visible)) wrong.push("no points: " + shown[0].getAttribute("aria-label"));
  }
  for (const legend of document.querySelectorAll(".legend")) {
    if (legend.querySelectorAll("li[data-s]").length === 1) wrong.push("a legend of one series: " + say(legend));
  }
  if (!document.querySelector(".panel")) wrong.push("no picture");
  return wrong;
}

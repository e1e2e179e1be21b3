{
  const about = document.getElementById("runs").dataset;
  const runs = JSON.parse(about.runs);

  // show shows a result below its picture, and marks it in the picture.
  const show = (figure, [x, y, run, value, distance]) => {
    const [commit, date] = runs[run];
    const at = figure.querySelector(".at");
    const name = Object.assign(document.createElement(about.commits ? "a" : "code"), { textContent: commit.slice(0, 12) });
    if (about.commits) name.href = about.commits.replaceAll("{commit}", commit);
    at.replaceChildren(`${date} `, name, ` ${value}, ${distance} from its level`);
    figure.querySelector(".cursor").setAttribute("d", `M${x} 14V118M${x - 3} ${y}H${x + 3}`);
  };

  // nearest returns the index of the point whose x is nearest. The points are sorted by x.
  const nearest = (points, x) => {
    let low = 0, high = points.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (points[middle][0] < x) low = middle; else high = middle;
    }
    return Math.abs(points[low][0] - x) <= Math.abs(points[high][0] - x) ? low : high;
  };

  for (const figure of document.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg");
    let points, index = -1, kept = false;
    const go = i => {
      points ??= JSON.parse(figure.dataset.points);
      index = Math.max(0, Math.min(points.length - 1, i));
      show(figure, points[index]);
    };
    const under = event => {
      points ??= JSON.parse(figure.dataset.points);
      const box = svg.getBoundingClientRect();
      return nearest(points, (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width);
    };
    svg.addEventListener("pointermove", event => { if (!kept) go(under(event)); });
    svg.addEventListener("click", event => { kept = !kept; go(under(event)); });
    svg.addEventListener("keydown", event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (!step) return;
      event.preventDefault();
      kept = true;
      go(index < 0 && step < 0 ? Infinity : Number.isFinite(step) ? index + step : step);
    });
  }
}

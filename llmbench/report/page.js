{
  // key returns what a cell is sorted by: its exact number, or its text.
  const key = cell => {
    const text = (cell.title || cell.textContent).trim();
    const number = parseFloat(text);
    return text === "" ? undefined : Number.isNaN(number) ? text : number;
  };

  // before orders keys: numbers, then texts, then cells without a value.
  const before = (a, b, down) => {
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    const order = typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
    return down ? -order : order;
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const table of document.querySelectorAll("table")) {
      const heads = [...table.tHead.rows[0].cells];
      if (heads.length > 2) { // in a narrow window each cell has its column's name before it
        table.classList.add("cards");
        for (const row of table.tBodies[0].rows) {
          [...row.cells].forEach((cell, i) => { if (i) cell.dataset.h = heads[i].textContent.trim(); });
        }
      }
      heads.forEach((head, column) => {
        if (!head.textContent.trim()) return;
        const button = Object.assign(document.createElement("button"), { type: "button" });
        button.append(...head.childNodes);
        head.append(button);
        button.onclick = () => {
          const down = head.getAttribute("aria-sort") === "ascending";
          for (const h of heads) h.removeAttribute("aria-sort");
          head.setAttribute("aria-sort", down ? "descending" : "ascending");
          const body = table.tBodies[0];
          const rows = [...body.rows].map(row => ({ row, key: key(row.cells[column]) }));
          rows.sort((a, b) => before(a.key, b.key, down));
          body.append(...rows.map(r => r.row));
        };
      });
    }
  });
}

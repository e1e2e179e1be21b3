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

  // csv returns a table with the units of benchmark files and with exact values.
  const csv = table => csvOf([...table.rows].map(row => [...row.cells].map(cell => {
    const exact = (cell.title || "").split(" ")[0];
    return cell.dataset.unit || (exact !== "" && !Number.isNaN(Number(exact)) ? exact : cell.textContent.trim());
  })));

  // tools adds the controls of a table: which columns are shown, and its file.
  const tools = (table, box) => {
    const bar = document.createElement("div");
    bar.className = "tools";
    const save = Object.assign(document.createElement("button"), { type: "button", textContent: "Save CSV" });
    save.onclick = () => saveFile(box.dataset.name + ".csv", "text/csv", csv(table));
    bar.append(save);
    const heads = [...table.tHead.rows[0].cells];
    if (heads.length > 8) {
      const fold = document.createElement("details"), list = document.createElement("div"), summary = document.createElement("summary");
      fold.className = "columns";
      summary.textContent = "Columns";
      heads.forEach((head, column) => {
        if (!column) return;
        const label = document.createElement("label"), check = Object.assign(document.createElement("input"), { type: "checkbox", checked: true });
        check.onchange = () => { for (const row of table.rows) row.cells[column].hidden = !check.checked; };
        label.append(check, head.textContent.trim());
        list.append(label);
      });
      fold.append(summary, list);
      bar.append(fold);
    }
    box.after(bar);
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const table of document.querySelectorAll("table")) {
      const heads = [...table.tHead.rows[0].cells];
      if (table.parentNode.dataset.name) tools(table, table.parentNode);
      if (heads.length > 2) { // in a narrow window each cell has its column's name before it
        table.classList.add("cards");
        for (const row of table.tBodies[0].rows) {
          [...row.cells].forEach((cell, i) => { if (i || !Number.isNaN(Number(cell.textContent))) cell.dataset.h = heads[i].textContent.trim(); });
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

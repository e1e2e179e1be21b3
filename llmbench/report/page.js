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

  // choose adds the chooser of a page with many groups: only the rows and the folds of groups with the
  // chosen values are shown.
  const choose = (table, folds) => {
    const rows = [...table.tBodies[0].rows], heads = [...table.tHead.rows[0].cells];
    const form = document.createElement("form"), said = document.createElement("output");
    form.className = "chooser";
    const selects = [];
    const values = (row, column) => row.cells[column].textContent.trim().split(", ").filter(Boolean);
    const fits = (row, except) => selects.every(s => s === except || !s.value || values(row, s.column).includes(s.value));
    const show = () => {
      const shown = rows.map(row => fits(row));
      rows.forEach((row, i) => { row.hidden = !shown[i]; folds[i].hidden = !shown[i]; });
      const n = shown.filter(Boolean).length;
      said.textContent = n + " of " + rows.length;
      if (n === 1) folds[shown.indexOf(true)].open = true;
      for (const s of selects) {
        for (const option of s.options) option.disabled = option.value !== "" && !rows.some(row => fits(row, s) && values(row, s.column).includes(option.value));
      }
    };
    heads.forEach((head, column) => {
      const name = head.textContent.trim();
      if (!["benchmark", "model", "workload", "hardware"].includes(name)) return;
      const all = [...new Set(rows.flatMap(row => values(row, column)))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      if (all.length < 2) return;
      const select = Object.assign(document.createElement("select"), { column, onchange: show });
      for (const v of ["", ...all]) select.append(Object.assign(document.createElement("option"), { value: v, textContent: v || "all" }));
      const label = document.createElement("label");
      label.append(name + " ", select);
      selects.push(select);
      form.append(label);
    });
    form.append(said);
    form.onsubmit = e => e.preventDefault();
    table.closest(".whole").before(form);
    show();
  };

  document.addEventListener("DOMContentLoaded", () => {
    const leaders = document.querySelector("[data-name=leaders] table");
    if (leaders) choose(leaders, [...document.querySelectorAll("details.chosen")]);
    for (const table of document.querySelectorAll("table")) {
      const heads = [...table.tHead.rows[0].cells];
      if (table.parentNode.dataset.name) tools(table, table.parentNode);
      if (heads.length > 2) { // in a narrow window each cell has its column's name before it
        table.classList.add("cards");
        for (const row of table.tBodies[0].rows) {
          [...row.cells].forEach((cell, i) => {
            if (!cell.textContent.trim()) cell.textContent = ""; // the last cell of a row has a line end
            if (i || !Number.isNaN(Number(cell.textContent))) cell.dataset.h = heads[i].textContent.trim();
          });
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

// The users of an explorer: bars to pick from, and one page of a table. Everything shown comes in `shown`, as text made in
// Python, and is put in as text, never as HTML; actions are sent to Python as messages of a `kind`.

function button(name, parent, text, key, act) {
  const element = make("button", name, parent, text);
  element.type = "button";
  element.dataset.key = key; // finds the focus again when the parts are drawn again
  element.addEventListener("click", act);
  return element;
}

function render({ model, el }) {
  const words = model.get("words");
  const send = (kind, more) => model.send({ kind, ...more });
  const root = make("div", "recnb-users", el);

  const left = make("div", "recnb-left", root);
  const bars = make("div", "recnb-bars", left);
  const parts = make("div", "recnb-bars recnb-parts", left);
  const right = make("div", "recnb-right", root);

  const tools = make("div", "recnb-tools", right);
  const label = make("label", "recnb-search", tools, `${words.search} `);
  const search = make("input", "recnb-search-text", label);
  Object.assign(search, { type: "search", placeholder: words.search_hint, spellcheck: false, maxLength: 200, dir: "auto" });
  search.value = model.get("shown").search;
  let waiting;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => send("search", { text: search.value }), 180);
  });
  const all = button("recnb-button recnb-all", tools, words.show_all, "all", () => {
    clearTimeout(waiting);
    send("all");
    search.focus();
  });

  const scroll = make("div", "recnb-scroll", right);
  const table = make("table", "recnb-table", scroll);
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", words.table);
  const head = make("tr", "", make("thead", "", table));
  const body = make("tbody", "", table);

  const pager = make("nav", "recnb-pager", right);
  pager.setAttribute("aria-label", words.pages);
  const turns = [["first", "«", () => 0], ["previous", "‹", (at) => at.page - 1], ["next", "›", (at) => at.page + 1], ["last", "»", (at) => at.pages - 1]];
  const turners = turns.map(([name, sign, where]) => {
    const turner = button("recnb-button", null, sign, `turn-${name}`, () => {
      if (turner.getAttribute("aria-disabled") !== "true") send("turn", { page: where(model.get("shown")) });
    });
    turner.title = words[name];
    turner.setAttribute("aria-label", words[name]);
    return turner;
  });
  const range = make("span", "recnb-range");
  range.setAttribute("role", "status"); // read aloud when it changes
  pager.append(turners[0], turners[1], range, turners[2], turners[3]);
  make("div", "recnb-how", right, words.how);
  const said = make("div", "recnb-said", right);
  said.setAttribute("role", "status");

  let active = 0; // the row that the tab key reaches
  let sortedAt = "";

  function drawBars(parent, chart, kind) {
    parent.replaceChildren();
    parent.hidden = !chart;
    if (!chart) return;
    parent.setAttribute("role", "group");
    parent.setAttribute("aria-label", chart.title);
    make("div", "recnb-title", parent).append(make("bdi", "", null, chart.title));
    chart.items.forEach((item, at) => {
      const bar = button("recnb-bar", parent, undefined, `${kind}-${at}`, () => send(kind, { at }));
      bar.setAttribute("aria-pressed", String(item.picked));
      bar.title = kind === "bar" ? words.pick_bar : `${item.label} · ${words.pick_part}`; // a long label is cut
      make("span", "recnb-picked", bar, item.picked ? "✓" : "").setAttribute("aria-hidden", "true");
      make("bdi", "recnb-label", bar, item.label);
      const line = make("span", "recnb-line", bar);
      line.setAttribute("aria-hidden", "true");
      make("span", "recnb-fill", line).style.width = `${100 * item.share}%`;
      make("span", "recnb-number", bar, item.text);
    });
  }

  function drawHead(columns) {
    head.replaceChildren();
    for (const column of columns) {
      const cell = make("th", column.number ? "recnb-numbers" : "", head);
      cell.scope = "col";
      cell.setAttribute("aria-sort", column.sort);
      const sort = button("recnb-sort", cell, undefined, `sort-${column.key}`, () => send("sort", { column: column.key }));
      make("bdi", "", sort, column.label);
      const arrow = { ascending: " ▲", descending: " ▼", none: "" }[column.sort];
      make("span", "recnb-arrow", sort, arrow).setAttribute("aria-hidden", "true");
    }
  }

  function drawRows(shown) {
    body.replaceChildren();
    const chosen = shown.rows.findIndex((row) => row.at === shown.chosen);
    if (chosen >= 0) active = chosen;
    active = Math.max(0, Math.min(active, shown.rows.length - 1));
    shown.rows.forEach((row, index) => {
      const line = make("tr", "recnb-row", body);
      line.dataset.key = `row-${index}`;
      line.dataset.user = row.cells[0];
      line.tabIndex = index === active ? 0 : -1;
      line.setAttribute("aria-selected", String(index === chosen));
      row.cells.forEach((text, column) => {
        const cell = make(column ? "td" : "th", shown.columns[column].number ? "recnb-numbers" : "", line);
        if (!column) {
          cell.scope = "row";
          cell.title = text; // a long one is cut
          make("span", "recnb-picked", cell, index === chosen ? "▸" : "").setAttribute("aria-hidden", "true");
        }
        make("bdi", "", cell, text);
      });
      line.addEventListener("click", () => {
        active = index;
        line.focus({ preventScroll: true });
        send("pick", { at: row.at });
      });
      line.addEventListener("keydown", (event) => press(event, index, row));
    });
  }

  function press(event, index, row) {
    const rows = body.children;
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1 }[event.key];
    const shown = model.get("shown");
    if (event.key === "Enter" || event.key === " ") {
      active = index;
      send("pick", { at: row.at });
    } else if (to !== undefined && !event.altKey && !event.ctrlKey && !event.metaKey) {
      const next = Math.max(0, Math.min(to, rows.length - 1));
      rows[index].tabIndex = -1;
      rows[next].tabIndex = 0;
      rows[next].focus();
      active = next;
    } else if (event.key === "PageDown" || event.key === "PageUp") {
      send("turn", { page: shown.page + (event.key === "PageDown" ? 1 : -1) });
    } else return;
    event.preventDefault();
  }

  function draw() {
    const shown = model.get("shown");
    const activeElement = el.getRootNode().activeElement;
    const focused = root.contains(activeElement) ? activeElement.dataset.key : undefined;
    drawBars(bars, shown.bars, "bar");
    drawBars(parts, shown.parts, "part");
    drawHead(shown.columns);
    const now = JSON.stringify([shown.page, shown.columns.map((column) => column.sort), shown.rows.map((row) => row.at)]);
    if (now !== sortedAt) {
      active = 0;
      scroll.scrollTop = 0;
      sortedAt = now;
    }
    const place = scroll.scrollTop;
    drawRows(shown);
    scroll.scrollTop = place;
    range.textContent = shown.range;
    if (said.textContent !== shown.said) said.textContent = shown.said;
    turners.forEach((turner, at) => {
      const end = at < 2 ? shown.page === 0 : shown.page >= shown.pages - 1;
      turner.setAttribute("aria-disabled", String(end)); // it keeps the focus, as `disabled` would not
    });
    all.hidden = !shown.filtered;
    if (activeElement !== search && search.value !== shown.search) search.value = shown.search;
    const again = focused && [...root.querySelectorAll("[data-key]")].find((element) => element.dataset.key === focused);
    if (again) {
      const row = again.classList.contains("recnb-row") ? body.children[active] ?? again : again;
      row.focus({ preventScroll: true });
    }
  }

  model.on("change:shown", draw);
  draw();
  return () => {
    clearTimeout(waiting);
    model.off("change:shown", draw);
  };
}

export default { render };

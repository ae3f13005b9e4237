// The list of recnb.playground. It can only permute its items and change their relevance: `order` and `relevance` are sent
// to Python, which checks them, and all texts come back in `shown`. Items are numbers here, their position in `relevance`;
// their names are put in as text, never as HTML.

let views = 0;

function render({ model, el }) {
  const root = make("div", "recnb-playground", el);
  const hint = make("div", "recnb-hint", root);
  hint.id = `recnb-hint-${(views += 1)}`;
  const list = make("ol", "recnb-list", root);
  const outsideTitle = make("div", "recnb-title", root);
  const outside = make("ul", "recnb-list recnb-outside", root);
  for (const each of [list, outside]) each.setAttribute("role", "list"); // without numbers, Safari does not take it for a list
  const said = make("div", "recnb-said", root);
  said.setAttribute("role", "status"); // read aloud when it changes
  said.setAttribute("aria-live", "polite");
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

  const rows = model.get("relevance").map((_, index) => makeRow(index));
  let dragged = null;
  let active = model.get("order")[0];

  function makeRow(index) {
    const row = make("li", "recnb-row");
    row.dataset.index = index;
    const inside = model.get("order").includes(index);
    const item = make(inside ? "button" : "span", "recnb-item", row);
    if (inside) {
      item.type = "button";
      item.setAttribute("aria-describedby", hint.id);
      item.setAttribute("aria-keyshortcuts", "Alt+ArrowUp Alt+ArrowDown");
    }
    make("span", "recnb-grip", item).textContent = inside ? "⠿" : "\u2002";
    const parts = { row, item, rank: make("span", "recnb-rank", item), mark: make("span", "recnb-mark", item) };
    parts.name = make("bdi", "recnb-name", item);
    parts.change = make("span", "recnb-change", row);
    parts.term = make("span", "recnb-term", row);
    const grade = make("span", "recnb-grade", row);
    const less = make("button", "recnb-step", grade);
    parts.input = make("input", "recnb-relevance", grade);
    const more = make("button", "recnb-step", grade);
    for (const [button, sign, by] of [[less, "−", -1], [more, "+", 1]]) {
      button.type = "button";
      button.textContent = sign;
      button.tabIndex = -1; // for the mouse: the keys + and − of the item, and the field between, do the same
      button.setAttribute("aria-hidden", "true");
      button.addEventListener("click", () => step(index, by));
    }
    Object.assign(parts.input, { type: "number", min: 0, step: "any" });
    parts.input.addEventListener("change", () => regrade(index, parts.input.valueAsNumber));
    row.addEventListener("focusin", () => activate(index));
    row.addEventListener("keydown", (event) => press(event, index));
    return parts;
  }

  // Actions.

  function press(event, index) {
    const order = model.get("order");
    const rank = order.indexOf(index);
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Escape" && dragged) {
      drop();
    } else if (event.altKey && down) {
      if (rank >= 0) move(index, rank + down);
    } else if (event.target !== rows[index].item || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (down || event.key === "Home" || event.key === "End") {
      const to = event.key === "Home" ? 0 : event.key === "End" ? order.length - 1 : rank + down;
      rows[order[Math.max(0, Math.min(order.length - 1, to))]].item.focus();
    } else if (event.key === "+" || event.key === "=") {
      step(index, 1);
    } else if (event.key === "-") {
      step(index, -1);
    } else if (/^[0-9]$/.test(event.key)) {
      regrade(index, Number(event.key));
    } else {
      return;
    }
    event.preventDefault();
  }

  function move(index, to) {
    const order = model.get("order").filter((other) => other !== index);
    if (to < 0 || to > order.length) return;
    order.splice(to, 0, index);
    commit(order, index);
  }

  function commit(order, moved) {
    model.set("moved", moved);
    model.set("order", order);
    model.save_changes();
    place();
  }

  function step(index, by) {
    // Without the rounding, 0.1 + 1 - 1 would be 0.10000000000000009.
    regrade(index, Math.max(0, Math.round((model.get("relevance")[index] + by) * 1e6) / 1e6));
  }

  function regrade(index, grade) {
    if (grade >= 0 && Number.isFinite(grade)) {
      model.set("relevance", model.get("relevance").map((old, at) => (at === index ? grade : old)));
      model.save_changes();
    }
    paint();
  }

  // Dragging: the row goes where the pointer is, and the list is sent when it is let go. All rows are equally high.
  list.addEventListener("pointerdown", (event) => {
    const row = event.target.closest("button.recnb-item")?.parentElement;
    if (!row || event.button !== 0) return;
    dragged = row;
    row.classList.add("recnb-dragged");
    row.firstChild.focus();
    list.setPointerCapture(event.pointerId);
  });
  list.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const box = list.getBoundingClientRect();
    const others = [...list.children].filter((row) => row !== dragged);
    const slot = Math.floor(((event.clientY - box.top) / box.height) * (others.length + 1));
    const before = others[Math.max(0, slot)] ?? null;
    if (dragged.nextElementSibling === before) return;
    glide(() => list.insertBefore(dragged, before));
    [...list.children].forEach((row, at) => (rows[row.dataset.index].rank.textContent = at + 1));
  });
  list.addEventListener("pointerup", () => {
    if (!dragged) return;
    const index = Number(dragged.dataset.index);
    const order = [...list.children].map((row) => Number(row.dataset.index));
    drop();
    if (order.some((item, at) => item !== model.get("order")[at])) commit(order, index);
  });
  list.addEventListener("lostpointercapture", () => {
    if (dragged) drop();
  });

  function drop() {
    dragged.classList.remove("recnb-dragged");
    dragged = null;
    place();
  }

  // Drawing.

  // Change the order of the rows, let them slide to their places, and leave the focus where it was.
  function glide(change) {
    const focused = root.getRootNode().activeElement;
    const tops = rows.map(({ row }) => row.getBoundingClientRect().top);
    change();
    if (focused && root.contains(focused)) focused.focus({ preventScroll: true });
    rows.forEach(({ row }, at) => {
      const by = tops[at] - row.getBoundingClientRect().top;
      if (by && !calm.matches) {
        row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 140, easing: "ease-out" });
      }
    });
  }

  function place() {
    if (dragged) return;
    const order = model.get("order");
    const present = [...list.children].map((row) => Number(row.dataset.index));
    if (order.length !== present.length || order.some((item, at) => item !== present[at])) {
      glide(() => list.replaceChildren(...order.map((index) => rows[index].row)));
    }
    paint();
  }

  function paint() {
    const { texts, items, k } = model.get("shown");
    const order = model.get("order");
    hint.textContent = texts.hint;
    list.setAttribute("aria-label", texts.list);
    outside.setAttribute("aria-label", texts.outside);
    outsideTitle.textContent = outside.children.length ? texts.outside : "";
    said.textContent = texts.said;
    rows.forEach(({ row, item, rank, mark, name, term, change, input }, index) => {
      const { label, aria, aria_relevance, worth, changed, turn } = items[index];
      const at = order.indexOf(index);
      const grade = model.get("relevance")[index];
      row.dataset.item = name.textContent = name.title = label;
      row.dataset.turn = turn;
      row.dataset.cut = at + 1 === k && k < order.length ? texts.cut : "";
      row.classList.toggle("recnb-relevant", grade > 0);
      row.classList.toggle("recnb-below", at >= k);
      if (at >= 0) item.setAttribute("aria-label", aria);
      rank.textContent = at >= 0 ? at + 1 : "–";
      mark.textContent = grade > 0 ? "✓" : "";
      term.textContent = term.title = worth;
      change.textContent = changed;
      input.setAttribute("aria-label", aria_relevance);
      if (input !== root.getRootNode().activeElement || input.valueAsNumber !== grade) input.value = String(grade);
    });
  }

  // One item at a time is reached by Tab; the arrow keys lead to the others.
  function activate(index) {
    active = index;
    rows.forEach(({ item, input }, at) => {
      if (!outside.contains(item)) item.tabIndex = input.tabIndex = at === active ? 0 : -1;
    });
  }

  outside.append(...rows.filter((_, index) => !model.get("order").includes(index)).map(({ row }) => row));
  list.append(...model.get("order").map((index) => rows[index].row));
  activate(active);
  paint();
  model.on("change:order", place);
  model.on("change:relevance", paint);
  model.on("change:shown", paint);
  return () => {
    model.off("change:order", place);
    model.off("change:relevance", paint);
    model.off("change:shown", paint);
  };
}

export default { render };

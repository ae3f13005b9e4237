// Shows HTML that Python makes, and tells Python which control was used: its name, its value, and the key of its row. Python
// answers with HTML that takes the place of the old one. Everything of the user's is escaped in Python.

const OURS = ["tabindex", "data-lm-suppress-shortcuts"]; // attributes that are set here
const AT_ONCE = ["range", "search"]; // these are sent with each change, others when they are left

function render({ model, el }) {
  const root = document.createElement("form"); // names of radio buttons are those of one form
  root.className = "recnb-live";
  el.append(root);
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  let dragged = null;

  const keyOf = (element) => element.closest("[data-key]")?.dataset.key ?? "";
  const send = (control, value = control.value) => model.send({ name: control.name, value, key: keyOf(control) });

  // Controls.

  root.addEventListener("submit", (event) => event.preventDefault());
  root.addEventListener("input", ({ target }) => AT_ONCE.includes(target.type) && send(target));
  root.addEventListener("change", ({ target }) => AT_ONCE.includes(target.type) || send(target));
  root.addEventListener("click", ({ target }) => {
    const button = target.closest("button[name]");
    if (!button) return;
    button.focus(); // which Safari does not do
    send(button);
  });

  // JupyterLab takes a key for a command unless the element that has the focus says not to.
  root.addEventListener("focusin", ({ target }) => {
    target.dataset.lmSuppressShortcuts = "true";
    if (target.closest("tr")) leadTo(target.closest("tr"));
  });

  // One row of a table is reached by Tab, the others by the arrow keys.
  function leadTo(row) {
    for (const control of row.closest("table").querySelectorAll("tbody :is(button, input):not([aria-hidden])")) {
      control.tabIndex = row.contains(control) ? 0 : -1;
    }
  }

  root.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const { target, altKey, key } = event;
    const isItem = target.matches(".recnb-item");
    if (key === "Escape" && dragged) drop(false);
    else if (event.ctrlKey || event.metaKey || !(isItem || altKey)) return;
    else if (!press(target, altKey ? `Alt+${key}` : key)) return;
    event.preventDefault();
  });

  // Do what a key does in a row: press a button that names the key, go to another row, or type a relevance.
  function press(target, key) {
    const row = target.closest("tr");
    const button = row?.querySelector(`[data-keys~="${CSS.escape(key)}"]`);
    const items = [...(row?.closest("table").querySelectorAll(".recnb-item") ?? [])];
    const to = { ArrowUp: items.indexOf(target) - 1, ArrowDown: items.indexOf(target) + 1, Home: 0, End: items.length - 1 }[key];
    const input = row?.querySelector("input[type=number]");
    if (button) {
      send(button);
    } else if (to !== undefined) {
      items[to]?.focus();
      if (items[to]?.name) send(items[to]);
    } else if (input && /^[0-9]$/.test(key)) {
      send(input, key);
    }
    return button || to !== undefined || (input && /^[0-9]$/.test(key));
  }

  // Dragging: the row goes where the pointer is, in the list or out of it, and its rank is sent when it is let go.

  const lists = () => [...root.querySelectorAll("[data-list]")];

  root.addEventListener("pointerdown", (event) => {
    const item = event.target.closest("[data-list] .recnb-item");
    if (!item || event.button !== 0) return;
    dragged = item.closest("tr");
    dragged.classList.add("recnb-dragged");
    item.focus();
    root.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  root.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const y = event.clientY - dragged.closest("table").getBoundingClientRect().top; // rows that glide are where they will be
    const list = lists().findLast((each) => y >= each.offsetTop) ?? lists()[0];
    const others = [...list.children].filter((row) => row !== dragged);
    const next = others.find((row) => y < row.offsetTop + row.offsetHeight / 2) ?? null;
    if (dragged.parentElement === list && dragged.nextElementSibling === next) return;
    glide(() => list.insertBefore(dragged, next));
    for (const each of lists()) rowsOf(each).forEach((row, at) => (row.cells[0].textContent = each.dataset.list ? at + 1 : "–"));
  });
  root.addEventListener("pointerup", () => dragged && drop(true));
  root.addEventListener("lostpointercapture", () => dragged && drop(false));

  const rowsOf = (list) => [...list.children].filter((row) => row.querySelector(".recnb-item"));

  function drop(keep) {
    const row = dragged;
    dragged = null;
    row.classList.remove("recnb-dragged");
    const list = row.parentElement;
    const rank = list.dataset.list ? rowsOf(list).indexOf(row) + 1 : 0;
    if (keep) model.send({ name: "rank", value: String(rank), key: keyOf(row) });
    else draw();
  }

  // Drawing.

  // Change the page, let the rows that moved slide to their places, and leave the focus where it was.
  function glide(change) {
    const focused = root.getRootNode().activeElement;
    const rows = [...root.querySelectorAll("[data-key]")].map((row) => [row, row.getBoundingClientRect().top]);
    change();
    if (focused && root.contains(focused)) focused.focus({ preventScroll: true });
    for (const [row, top] of rows) {
      const by = top - row.getBoundingClientRect().top;
      if (by && !calm.matches) {
        row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 140, easing: "ease-out" });
      }
    }
  }

  function draw() {
    if (dragged) return;
    const page = document.createElement("template");
    page.innerHTML = model.get("html");
    const keyed = new Map([...root.querySelectorAll("[data-key]")].map((row) => [row.dataset.key, row]));
    glide(() => become(root, page.content, keyed));
  }

  // Make the children of an element those of another; what has a key or has not changed stays, with its focus.
  function become(old, fresh, keyed) {
    const nodes = [...fresh.childNodes];
    nodes.forEach((node, at) => {
      const here = old.childNodes[at] ?? null;
      const same = keyed.get(node.dataset?.key) ?? (here?.nodeName === node.nodeName && !here.dataset?.key ? here : node);
      if (same !== here) old.insertBefore(same, here);
      if (same === node) return;
      if (node.nodeType === Node.TEXT_NODE) same.data = node.data;
      else update(same, node, keyed);
    });
    while (old.childNodes.length > nodes.length) old.lastChild.remove();
  }

  function update(old, fresh, keyed) {
    for (const { name } of [...old.attributes]) fresh.hasAttribute(name) || OURS.includes(name) || old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) old.getAttribute(name) === value || old.setAttribute(name, value);
    become(old, fresh, keyed);
    if (!["INPUT", "SELECT"].includes(old.nodeName)) return;
    old.checked = fresh.checked;
    const typing = old === root.getRootNode().activeElement && AT_ONCE.includes(old.type);
    if (!typing && old.value !== fresh.value) old.value = fresh.value;
  }

  model.on("msg:custom", draw);
  draw();
  for (const table of root.querySelectorAll("table")) {
    const row = table.querySelector(".recnb-item")?.closest("tr");
    if (row) leadTo(row);
  }
  return () => model.off("msg:custom", draw);
}

export default { render };

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

  const on = (event, act) => root.addEventListener(event, act);
  const keyOf = (element) => element.closest("[data-key]")?.dataset.key ?? "";
  const send = (control, value = control.value) => model.send({ name: control.name, value, key: keyOf(control) });

  // Controls.

  on("submit", (event) => event.preventDefault());
  on("input", ({ target }) => AT_ONCE.includes(target.type) && send(target));
  on("change", ({ target }) => AT_ONCE.includes(target.type) || send(target));
  on("click", ({ target, detail }) => {
    const button = target.closest("button[name]") ?? target.closest("tr")?.querySelector(".recnb-item[name]");
    if (detail) button?.focus(); // which Safari does not do; the Enter key leaves the focus in its box
    if (button) send(button);
  });
  on("focusin", ({ target }) => {
    target.dataset.lmSuppressShortcuts = "true"; // else JupyterLab takes a key for a command
    if (target.closest("tr")) leadTo(target.closest("tr"));
  });

  // One row of a table is reached by Tab, the others by the arrow keys.
  function leadTo(row) {
    for (const control of row.closest("table").querySelectorAll("tbody :is(button, input):not([aria-hidden])")) {
      control.tabIndex = row.contains(control) ? 0 : -1;
    }
  }

  on("keydown", (event) => {
    event.stopPropagation();
    const { target, altKey, key } = event;
    if (key === "Escape" && dragged) drop(false);
    else if (event.ctrlKey || event.metaKey || !(target.matches(".recnb-item") || altKey)) return;
    else if (!press(target, altKey ? `Alt+${key}` : key)) return;
    event.preventDefault();
  });

  // Do what a key does in a row, if it does anything: press a button that names the key, set the relevance, go to another row.
  function press(target, key) {
    const row = target.closest("tr");
    const button = row?.querySelector(`[data-keys~="${CSS.escape(key)}"]`);
    const input = /^[0-9]$/.test(key) && row?.querySelector("input[type=number]");
    const items = [...(row?.closest("table").querySelectorAll(".recnb-item") ?? [])];
    const at = items.indexOf(target);
    const item = items[{ ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: items.length - 1 }[key]];
    if (button) send(button);
    else if (input) send(input, key);
    else item?.focus();
    if (!button && item?.name) send(item); // an item with a name is chosen by going there
    return button || input || item;
  }

  // Dragging: the row goes where the pointer is, in the list or out of it, and its rank is sent when it is let go.

  const lists = () => [...root.querySelectorAll("[data-list]")];
  const rowsOf = (list) => [...list.children].filter((row) => row.querySelector(".recnb-item"));

  on("pointerdown", (event) => {
    const item = event.target.closest("[data-list] .recnb-item");
    if (!item || event.button !== 0) return;
    dragged = item.closest("tr");
    dragged.classList.add("recnb-dragged");
    item.focus();
    root.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  on("pointermove", (event) => {
    if (!dragged) return;
    const y = event.clientY - dragged.closest("table").getBoundingClientRect().top;
    const list = lists().find((each) => y < each.offsetTop + each.offsetHeight) ?? lists().at(-1);
    const others = [...list.children].filter((row) => row !== dragged);
    const next = others.find((row) => y < row.offsetTop + row.offsetHeight / 2) ?? null; // not where it glides, but where to
    if (dragged.parentElement === list && dragged.nextElementSibling === next) return;
    glide(() => list.insertBefore(dragged, next));
    for (const each of lists()) rowsOf(each).forEach((row, at) => (row.cells[0].textContent = each.dataset.list ? at + 1 : "–"));
  });
  on("pointerup", () => dragged && drop(true));
  on("lostpointercapture", () => dragged && drop(false));

  function drop(keep) {
    const [row, list] = [dragged, dragged.parentElement];
    dragged = null;
    row.classList.remove("recnb-dragged");
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
    for (const [row, top] of calm.matches ? [] : rows) {
      const by = top - row.getBoundingClientRect().top;
      if (by) row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 140, easing: "ease-out" });
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
  for (const table of root.querySelectorAll("table:has(.recnb-item)")) leadTo(table.querySelector(".recnb-item").closest("tr"));
  return () => model.off("msg:custom", draw);
}

export default { render };

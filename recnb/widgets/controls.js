// What the controls of all widgets need. Keys pressed in a widget are no commands of the notebook: JupyterLab would take a
// letter in a list of choices, or an arrow key among radio buttons, for one, and add, move or delete cells. It asks the
// element that has the focus. Names of sliders and radio buttons, which ipywidgets only show beside them, are for screen readers.

let views = 0;

function nameControls(whole, view) {
  for (const control of whole.querySelectorAll(".widget-slider, .widget-radio")) {
    const named = control.querySelector("[role=slider], .widget-radio-box");
    named?.setAttribute("aria-label", control.querySelector(".widget-label")?.textContent ?? "");
    control.querySelector(".widget-radio-box")?.setAttribute("role", "radiogroup");
    // With one name for all, Tab leads to the one that is chosen and the arrow keys to the others.
    for (const input of control.querySelectorAll("input[type=radio]")) input.name = `${view}-${[...control.classList].join("-")}`;
  }
}

function guard(whole, lang) {
  const view = `recnb-${(views += 1)}`;
  const mark = (event) => (event.target.dataset.lmSuppressShortcuts = "true");
  const keep = (event) => event.stopPropagation();
  const drawn = new MutationObserver(() => nameControls(whole, view)); // controls are drawn one after the other
  whole.lang = lang;
  whole.addEventListener("focusin", mark);
  whole.addEventListener("keydown", keep);
  drawn.observe(whole, { childList: true, subtree: true });
  nameControls(whole, view);
  return () => {
    whole.removeEventListener("focusin", mark);
    whole.removeEventListener("keydown", keep);
    drawn.disconnect();
  };
}

function render({ model, el }) {
  let free = () => {};
  const wait = setInterval(() => {
    const whole = el.closest(".recnb-view");
    if (!whole) return; // the widget around this is drawn after it
    clearInterval(wait);
    free = guard(whole, model.get("lang"));
  }, 50);
  return () => {
    clearInterval(wait);
    free();
  };
}

export default { render };

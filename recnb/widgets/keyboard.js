// Keys pressed in a widget are no commands of the notebook: JupyterLab would take a letter in a list of choices, or an arrow
// key among radio buttons, for one, and add, move or delete cells. It asks the element that has the focus.

function guard(whole) {
  const mark = (event) => (event.target.dataset.lmSuppressShortcuts = "true");
  const keep = (event) => event.stopPropagation();
  whole.addEventListener("focusin", mark);
  whole.addEventListener("keydown", keep);
  return () => {
    whole.removeEventListener("focusin", mark);
    whole.removeEventListener("keydown", keep);
  };
}

function render({ model, el }) {
  let free = () => {};
  const wait = setInterval(() => {
    const whole = el.closest(`.${model.get("inside")}`);
    if (!whole) return; // the widget around this is drawn after it
    clearInterval(wait);
    whole.lang = model.get("lang");
    free = guard(whole);
  }, 50);
  return () => {
    clearInterval(wait);
    free();
  };
}

export default { render };

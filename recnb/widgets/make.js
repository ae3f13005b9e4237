// An element with its class and its text, which is text and never HTML.
function make(tag, name, parent, text) {
  const element = document.createElement(tag);
  element.className = name;
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
}

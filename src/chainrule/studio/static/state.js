// The state of a room lives in the address bar: a link reproduces the experiment.

/** Values by name, typed as their defaults; what differs from the defaults stands in the address. */
export class State {
  constructor(room, defaults, params) {
    this.room = room;
    this.defaults = defaults;
    this.values = { ...defaults };
    this.listeners = [];
    for (const [name, text] of params) if (name in defaults) this.values[name] = typed(text, defaults[name]);
  }

  get(name) {
    return this.values[name];
  }

  /** Set one value or several; listeners hear the names that changed. */
  set(changes) {
    const names = Object.keys(changes).filter((name) => this.values[name] !== changes[name]);
    if (!names.length) return;
    Object.assign(this.values, changes);
    this.write();
    for (const listener of this.listeners) listener(names);
  }

  /** Call `listener(names)` after every change of one of these names, or of any. */
  on(listener, ...names) {
    this.listeners.push((changed) => {
      if (!names.length || changed.some((name) => names.includes(name))) listener(changed);
    });
  }

  /** The address of this state. */
  address() {
    const changed = Object.entries(this.values).filter(([name, value]) => value !== this.defaults[name]);
    const query = new URLSearchParams(changed.map(([name, value]) => [name, String(value)]));
    return `#/${this.room}${changed.length ? `?${query}` : ""}`;
  }

  write() {
    history.replaceState(null, "", this.address());
  }
}

function typed(text, example) {
  if (typeof example === "number") return Number.isFinite(Number(text)) ? Number(text) : example;
  if (typeof example === "boolean") return text === "true";
  return text;
}

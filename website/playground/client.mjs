/** The page's end of the worker: one request at a time, each with a limit at which the worker ends. */

/** How long the worker may say nothing while it works on a request, in seconds; then it is ended. */
const LIMITS = { read: 30, build: 60, explain: 60, script: 60, parse: 10, diff: 60 };
const LOADING = 180;

export class Client {
  /** `onChange` is told whether Python is being loaded, is ready, or was ended. */
  constructor(onChange) {
    this.onChange = onChange;
    this.start();
  }

  start() {
    this.number = 0;
    this.waiting = new Map();
    this.worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
    this.ready = new Promise((resolve, reject) => {
      const late = setTimeout(
        () => this.end(`Python took longer than ${LOADING} s`),
        LOADING * 1000,
      );
      this.refuse = (reason) => {
        clearTimeout(late);
        reject(new Error(reason));
      };
      this.worker.onmessage = ({ data }) => {
        if (data.kind !== "ready") return this.take(data);
        clearTimeout(late);
        this.onChange("ready");
        return resolve();
      };
    });
    this.ready.catch(() => {});
    this.worker.onerror = (event) => this.end(event.message || "the worker could not be started");
    this.onChange("loading");
  }

  take({ id, kind, told }) {
    if (kind === "fatal") return this.end(told);
    const asked = this.waiting.get(id);
    if (!asked) return;
    clearTimeout(asked.late);
    if (kind !== "answer" && kind !== "fault") {
      asked.watch();
      return asked.onTell?.(kind, told);
    }
    this.waiting.delete(id);
    if (kind === "answer") asked.resolve(told);
    else asked.reject(new Error(told));
  }

  /**
   * Ask for something; what the worker tells before it answers goes to `onTell`. What nobody wants any
   * more when its turn comes, as `isStale` says, fails without being asked.
   */
  async ask(verb, given, { files = [], onTell, isStale = () => false } = {}) {
    const { worker } = this;
    await this.ready;
    if (worker !== this.worker) throw new Error("stopped");
    // One waits for the other: a limit counts what a request takes by itself.
    const before = [...this.waiting.values()].map((asked) => asked.done);
    const id = ++this.number;
    let asked;
    const done = new Promise((resolve, reject) => {
      asked = { resolve, reject, onTell };
      this.waiting.set(id, asked);
    });
    asked.done = done.catch(() => {});
    Promise.all(before).then(() => {
      if (!this.waiting.has(id) || worker !== this.worker) return;
      if (isStale()) {
        this.waiting.delete(id);
        asked.reject(new Error("something else was asked for"));
        return;
      }
      const late = `${verb} took longer than ${LIMITS[verb]} s`;
      asked.watch = () => {
        asked.late = setTimeout(() => this.end(late), LIMITS[verb] * 1000);
      };
      asked.watch();
      worker.postMessage({ id, verb, given, files });
    });
    return done;
  }

  /** End the worker, whatever it does, and start another; all that was asked for fails. */
  end(reason) {
    this.worker.terminate();
    this.refuse(reason);
    const asked = [...this.waiting.values()];
    this.waiting.clear();
    for (const each of asked) {
      clearTimeout(each.late);
      each.reject(Object.assign(new Error(reason), { ended: true }));
    }
    this.onChange("ended", reason);
    this.start();
  }
}

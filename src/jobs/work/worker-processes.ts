/** The worker processes that a coordinator starts on its own machine, and starts again when they die. */
import { type ChildProcess, spawn } from "node:child_process";
import { InferyardError } from "../../contract/errors.ts";

/** How a worker is started. */
export interface WorkerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

/** Ends of workers, one after another and without a result between them, after which the job fails: by a signal, and by themselves. */
const [maxDeaths, maxExits] = [20, 3];
/** Wait before a worker is started again, in milliseconds; doubled for each end without a result between. */
const [minRestartMs, maxRestartMs] = [10, 5000];
/** Time that a worker has to finish its chunk when the coordinator ends. */
const graceMs = 10_000;
/** Characters of a worker's error output that an error quotes. */
const quotedCharacters = 600;

/** A number of worker processes. They end with this process: the channel between the two closes. */
export class WorkerProcesses {
  readonly #command: WorkerCommand;
  readonly #children = new Set<ChildProcess>();
  #isClosed = false;
  #deaths = 0;
  #exits = 0;
  #errors = "";

  constructor(count: number, command: WorkerCommand) {
    this.#command = command;
    for (let number = 0; number < count; number += 1) this.#start();
  }

  /** Process ids of the workers that run. */
  get processes(): readonly number[] {
    return [...this.#children].flatMap(({ pid }) => pid ?? []);
  }

  /** To be called when results come: the workers do their work. */
  readonly onProgress = (): void => {
    this.#deaths = 0;
    this.#exits = 0;
  };

  /** Throws HOST_DIED if the workers end again and again without a result. */
  readonly check = (): void => {
    if (this.#exits <= maxExits && this.#deaths <= maxDeaths) return;
    const said = this.#errors.trim();
    throw new InferyardError("HOST_DIED", `the workers end without a result${said === "" ? "" : `: ${said}`}`);
  };

  /** Lets each worker finish its chunk, and waits for their end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#children].map(
        (child) =>
          new Promise<void>((resolve) => {
            if (child.exitCode !== null || child.signalCode !== null) return resolve();
            const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
            child.once("exit", () => {
              clearTimeout(timer);
              resolve();
            });
            if (child.connected) child.disconnect();
          }),
      ),
    );
  }

  #start(): void {
    const { program, args, environment, directory } = this.#command;
    const child = spawn(program, args, { cwd: directory, env: { ...environment }, stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#children.add(child);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = `${this.#errors}${text}`.slice(-quotedCharacters);
    });
    const ended = (signal: NodeJS.Signals | null): void => {
      if (!this.#children.delete(child) || this.#isClosed) return;
      if (signal === null) this.#exits += 1;
      else this.#deaths += 1;
      const times = this.#exits + this.#deaths;
      if (this.#exits > maxExits || this.#deaths > maxDeaths) return; // `check` says so
      setTimeout(
        () => {
          if (!this.#isClosed) this.#start();
        },
        Math.min(maxRestartMs, minRestartMs * 2 ** times),
      );
    };
    child.once("exit", (_code, signal) => ended(signal));
    child.once("error", (error) => {
      this.#errors = error.message;
      ended(null);
    });
  }
}

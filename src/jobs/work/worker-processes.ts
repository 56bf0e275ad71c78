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

/** What a worker does, as it tells the process that started it: nothing, a chunk, or one row alone. */
export type WorkerActivity = "idle" | "chunk" | "row";

/**
 * Ends of workers, one after another and without a result between them, after which the job fails. `idle`: by themselves and without a chunk, as with a setting
 * that does not work; `chunk`: with a chunk, or by a signal; `row`: with one row alone. Each of these counts for its row, which is set aside after a few of them.
 */
const maxEnds: Readonly<Record<WorkerActivity, number>> = { idle: 3, chunk: 20, row: 200 };
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
  #ends: Record<WorkerActivity, number> = { idle: 0, chunk: 0, row: 0 };
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
    this.#ends = { idle: 0, chunk: 0, row: 0 };
  };

  /** Throws HOST_DIED if the workers end again and again without a result. */
  readonly check = (): void => {
    if (!this.#isLost()) return;
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

  #isLost(): boolean {
    return this.#ends.idle > maxEnds.idle || this.#ends.chunk > maxEnds.chunk || this.#ends.row > maxEnds.row;
  }

  #start(): void {
    const { program, args, environment, directory } = this.#command;
    const child = spawn(program, args, { cwd: directory, env: { ...environment }, stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#children.add(child);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = `${this.#errors}${text}`.slice(-quotedCharacters);
    });
    let activity: WorkerActivity = "idle";
    child.on("message", (message) => (activity = message as WorkerActivity));
    const ended = (signal: NodeJS.Signals | null): void => {
      if (!this.#children.delete(child) || this.#isClosed) return;
      this.#ends[activity === "idle" && signal !== null ? "chunk" : activity] += 1;
      if (this.#isLost()) return; // `check` says so
      const times = this.#ends.idle + this.#ends.chunk;
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

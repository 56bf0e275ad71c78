/** The loop of one target in one process: mutate an input, run it, keep it if it reached something new. */
import { foundFolder, inputsIn, keep, keptFolder } from "./corpus.ts";
import { Edges } from "./coverage/edges.ts";
import { mutateBytes } from "./mutations/mutate-bytes.ts";
import { type Failure, outcomeOf } from "./oracle.ts";
import { Random } from "./random.ts";
import type { FuzzTarget, OpenTarget } from "./target.ts";

export interface FuzzOptions {
  readonly target: string;
  readonly seconds: number;
  readonly seed: number;
  /** Stops after this many inputs even if there is time. Default: no limit. */
  readonly executions?: number;
  /** Whether inputs found by earlier runs are used, and new ones written. */
  readonly useFound: boolean;
}

export interface Found extends Failure {
  readonly input: Uint8Array;
}

export interface Progress {
  readonly executions: number;
  readonly accepted: number;
  readonly features: number;
  readonly covered: number;
  readonly edges: number;
  readonly corpus: number;
}

export interface Reporter {
  /** Called before each input, so that one that ends the process is known. */
  begin(input: Uint8Array): void;
  failed(found: Found): void;
  progress(progress: Progress): void;
}

const defaultBytes = 65_536;
const defaultMilliseconds = 2000;
const defaultMemory = 512 * 1024 ** 2;

export class Fuzzer {
  readonly #target: FuzzTarget;
  readonly #open: OpenTarget;
  readonly #options: FuzzOptions;
  readonly #reporter: Reporter;
  readonly #edges: Edges = new Edges();
  readonly #random: Random;
  readonly #corpus: Uint8Array[] = [];
  readonly #failures = new Set<string>();
  #executions = 0;
  #accepted = 0;

  constructor(target: FuzzTarget, open: OpenTarget, options: FuzzOptions, reporter: Reporter) {
    this.#target = target;
    this.#open = open;
    this.#options = options;
    this.#reporter = reporter;
    this.#random = new Random(options.seed);
  }

  async run(): Promise<void> {
    const { seconds, executions = Number.POSITIVE_INFINITY, target, useFound } = this.#options;
    const seeds = await this.#target.seeds();
    const found = useFound ? inputsIn(foundFolder(target)) : [];
    const end = performance.now() + seconds * 1000;
    for (const input of [...seeds, ...inputsIn(keptFolder(target)), ...found]) {
      if (await this.#try(input.subarray(0, this.#maxBytes))) this.#corpus.push(input);
    }
    if (this.#corpus.length === 0) this.#corpus.push(seeds[0] ?? new Uint8Array(0));
    let reported = performance.now();
    while (performance.now() < end && this.#executions < executions) {
      const input = this.#mutated();
      if (await this.#try(input)) {
        this.#corpus.push(input);
        if (useFound) keep(foundFolder(target), input);
      }
      if (performance.now() - reported < 1000) continue;
      this.#report();
      reported = performance.now();
    }
    this.#report();
  }

  get #maxBytes(): number {
    return this.#target.maxBytes ?? defaultBytes;
  }

  #report(): void {
    const { features, covered, total: edges } = this.#edges;
    this.#reporter.progress({
      executions: this.#executions,
      accepted: this.#accepted,
      features,
      covered,
      edges,
      corpus: this.#corpus.length,
    });
  }

  /** The newest inputs are changed more often than the old ones. */
  #mutated(): Uint8Array {
    const random = this.#random;
    const { length } = this.#corpus;
    const recent = Math.min(length, 1 + Math.floor(length / 4));
    const input = this.#corpus[random.oneIn(2) ? random.below(length) : length - 1 - random.below(recent)]!;
    const mutation = { random, other: random.pick(this.#corpus), dictionary: this.#target.dictionary ?? [] };
    const changed = random.oneIn(8) ? mutateBytes(input, mutation) : this.#target.mutate(input, mutation);
    return changed.subarray(0, this.#maxBytes);
  }

  /** Whether the input reached something new without a failure. */
  async #try(input: Uint8Array): Promise<boolean> {
    this.#reporter.begin(input);
    this.#edges.reset();
    const { outcome, milliseconds, memory } = await this.#measured(input);
    this.#executions += 1;
    const fresh = this.#edges.take();
    if (outcome === "accepted") this.#accepted += 1;
    const failure = typeof outcome === "object" ? outcome : await this.#excess(input, milliseconds, memory);
    if (failure === undefined) return fresh > 0;
    if (!this.#failures.has(failure.key)) {
      this.#failures.add(failure.key);
      this.#reporter.failed({ ...failure, input: await this.#minimized(input, failure) });
    }
    return false;
  }

  async #measured(
    input: Uint8Array,
  ): Promise<{ outcome: Awaited<ReturnType<typeof outcomeOf>>; milliseconds: number; memory: number }> {
    const [cpu, { maxRSS }] = [process.cpuUsage(), process.resourceUsage()];
    const outcome = await outcomeOf(this.#target, this.#open, input);
    const { user, system } = process.cpuUsage(cpu);
    return { outcome, milliseconds: (user + system) / 1000, memory: (process.resourceUsage().maxRSS - maxRSS) * 1024 };
  }

  /** Time is measured twice: the first run of a path compiles it. */
  async #excess(input: Uint8Array, milliseconds: number, memory: number): Promise<Failure | undefined> {
    const { maxMilliseconds = defaultMilliseconds, maxMemory = defaultMemory } = this.#target;
    if (memory > maxMemory) {
      const message = `the peak resident set grows by ${Math.round(memory / 1024 ** 2)} MiB; the target allows ${maxMemory / 1024 ** 2} MiB`;
      return { key: "memory", message, stack: "" };
    }
    if (milliseconds <= maxMilliseconds) return undefined;
    const again = await this.#measured(input);
    if (again.milliseconds <= maxMilliseconds) return undefined;
    const message = `takes ${Math.round(again.milliseconds)} ms of processor time; the target allows ${maxMilliseconds} ms`;
    return { key: "time", message, stack: "" };
  }

  /** Removes ever smaller parts as long as the failure stays the same, for at most five seconds. */
  async #minimized(input: Uint8Array, { key }: Failure): Promise<Uint8Array> {
    if (key === "memory" || key === "time") return input;
    const end = performance.now() + 5000;
    let smallest = input;
    for (
      let size = Math.ceil(input.length / 2);
      size >= 1 && performance.now() < end;
      size = size === 1 ? 0 : Math.ceil(size / 2)
    ) {
      for (let from = 0; from < smallest.length && performance.now() < end;) {
        const shorter = Buffer.concat([smallest.subarray(0, from), smallest.subarray(from + size)]);
        this.#reporter.begin(shorter);
        const outcome = await outcomeOf(this.#target, this.#open, shorter);
        if (typeof outcome === "object" && outcome.key === key) smallest = shorter;
        else from += size;
      }
    }
    return smallest;
  }
}

/** Nondeterministic automata over bytes, and their determinization. */
import { chargeStates, chargeSteps } from "../constraint-budget.ts";
import { type Dfa, explore } from "./automaton.ts";
import { getClasses } from "./byte-classes.ts";
import { type ByteTree, type CodePointRange, anyCodePoint, byteTree } from "./code-points.ts";

/** Estimated memory of a state with an edge, and of a state in a set of states. */
const [stateBytes, memberBytes] = [250, 16];

interface Edge {
  readonly first: number;
  readonly last: number;
  readonly to: number;
}

/** States and edges that are added one by one. */
export class ByteNfa {
  readonly #edges: Edge[][] = [];
  readonly #empty: number[][] = [];
  /** Edges that read nothing, at the start and at the end of the text alone. */
  readonly #atStart = new Map<number, number[]>();
  readonly #atEnd = new Map<number, number[]>();
  #final = -1;

  state(): number {
    chargeStates(1, stateBytes);
    chargeSteps(5);
    this.#empty.push([]);
    return this.#edges.push([]) - 1;
  }

  /** An edge that reads nothing. */
  empty(from: number, to: number): void {
    this.#empty[from]?.push(to);
  }

  /** An edge that reads nothing, before the first character. */
  atStart(from: number, to: number): void {
    this.#atStart.set(from, [...(this.#atStart.get(from) ?? []), to]);
  }

  /** An edge that reads nothing, after the last character. */
  atEnd(from: number, to: number): void {
    this.#atEnd.set(from, [...(this.#atEnd.get(from) ?? []), to]);
  }

  /** Edges that read one of these code points. */
  read(from: number, to: number, ranges: readonly CodePointRange[]): void {
    const states = new Map<ByteTree, number>();
    const connect = (place: number, tree: ByteTree): void => {
      for (const { first, last, next } of tree) {
        const known = next.length === 0 ? to : states.get(next);
        const target = known ?? this.state();
        chargeStates(0, 60);
        chargeSteps(2);
        this.#edges[place]?.push({ first, last, to: target });
        if (known !== undefined) continue;
        states.set(next, target);
        connect(target, next);
      }
    };
    connect(from, byteTree(ranges));
  }

  /** A state that reads any characters and comes back to itself. */
  anyBefore(): number {
    const state = this.state();
    this.read(state, state, anyCodePoint);
    return state;
  }

  /** As `anyBefore`, for the end: a text that reaches it is accepted with any continuation. */
  final(): number {
    this.#final = this.anyBefore();
    return this.#final;
  }

  /** The table of the automaton. */
  determine(start: number, end: number): Dfa {
    const ranges = this.#edges.flat().map(({ first, last }) => [first, last] as const);
    return explore<readonly number[]>({
      start: this.#closure([start], this.#atStart),
      key: (set) => set.join(","),
      classes: getClasses(ranges),
      step: (set, byte) => {
        const targets: number[] = [];
        for (const state of set) {
          const edges = this.#edges[state] ?? [];
          chargeSteps(1 + edges.length);
          for (const { first, last, to } of edges) if (byte >= first && byte <= last) targets.push(to);
        }
        return targets.length === 0 ? undefined : this.#closure(targets, undefined);
      },
      bytes: (set) => memberBytes * set.length,
      accepts: (set) => this.#closure(set, this.#atEnd).includes(end),
    });
  }

  /** The states that are reached without a byte, ascending. `assertions`: edges that hold here besides. */
  #closure(states: readonly number[], assertions: ReadonlyMap<number, readonly number[]> | undefined): readonly number[] {
    const seen = new Set(states);
    const open = [...states];
    // In an empty text both assertions hold.
    const both = assertions === this.#atEnd ? [this.#atEnd] : assertions === undefined ? [] : [assertions];
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      for (const next of [...(this.#empty[state] ?? []), ...both.flatMap((edges) => edges.get(state ?? -1) ?? [])]) {
        if (seen.has(next)) continue;
        seen.add(next);
        open.push(next);
      }
    }
    chargeSteps(4 * seen.size);
    return this.#final >= 0 && seen.has(this.#final) ? [this.#final] : [...seen].toSorted((left, right) => left - right);
  }
}

/**
 * The reference implementation for the self-test: a decoder as its papers describe it, in double precision and without the engine's kernels. RMSNorm
 * (Zhang and Sennrich 2019), rotary position embedding (Su et al. 2021), attention over grouped heads (Ainslie et al. 2023) and SwiGLU (Shazeer
 * 2020).
 */
import { required } from "../../contract/checked.ts";
import { type SelfTestModel, selfTestSizes } from "./self-test-model.ts";

type Vector = Float64Array<ArrayBuffer>;

/** Keys and values of one token in one layer. */
interface Cached {
  readonly keys: Vector;
  readonly values: Vector;
}

const { width, inner, heads, cachedHeads, headSize, vocabulary, epsilon, frequencyBase } = selfTestSizes;

/** A sequence of the reference implementation: the tokens appended so far, with their keys and values. */
export class ReferenceSequence {
  readonly #model: SelfTestModel;
  /** Keys and values, indexed by layer and then by token. */
  readonly #cache: readonly Cached[][];
  #state: Vector = new Float64Array(width);

  constructor(model: SelfTestModel, cache: readonly (readonly Cached[])[] = Array.from({ length: model.layers }, () => [])) {
    this.#model = model;
    this.#cache = cache.map((each) => [...each]);
  }

  fork(): ReferenceSequence {
    return new ReferenceSequence(this.#model, this.#cache);
  }

  append(tokens: readonly number[]): this {
    for (const token of tokens) this.#append(token);
    return this;
  }

  /** Logits after the last token that was appended. */
  get logits(): Float64Array {
    return this.#product("output", this.#normalized(this.#state, "output_norm"), vocabulary);
  }

  #append(token: number): void {
    let state = Float64Array.from(this.#weights("token_embd.weight").subarray(token * width, (token + 1) * width));
    for (const [layer, cache] of this.#cache.entries()) {
      const prefix = `blk.${layer}.`;
      state = sum(state, this.#attention(prefix, this.#normalized(state, `${prefix}attn_norm`), cache));
      state = sum(state, this.#feedForward(prefix, this.#normalized(state, `${prefix}ffn_norm`)));
    }
    this.#state = state;
  }

  #attention(prefix: string, input: Vector, cache: Cached[]): Vector {
    const position = cache.length;
    const queries = this.#getHeads(`${prefix}attn_q`, input, heads, position);
    const keys = this.#getHeads(`${prefix}attn_k`, input, cachedHeads, position);
    const values = this.#projected(`${prefix}attn_v`, input, cachedHeads * headSize);
    cache.push({ keys, values });
    const mixed = new Float64Array(heads * headSize);
    for (let head = 0; head < heads; head += 1) {
      const from = Math.floor((head * cachedHeads) / heads) * headSize;
      const query = queries.subarray(head * headSize, (head + 1) * headSize);
      const weights = softmax(cache.map((each) => dot(query, each.keys.subarray(from, from + headSize)) / Math.sqrt(headSize)));
      const output = mixed.subarray(head * headSize, (head + 1) * headSize);
      for (const [index, each] of cache.entries()) {
        const weight = weights[index] ?? 0;
        for (let element = 0; element < headSize; element += 1)
          output[element] = (output[element] ?? 0) + weight * (each.values[from + element] ?? 0);
      }
    }
    return this.#product(`${prefix}attn_output`, mixed, width);
  }

  /** Queries or keys of all heads, after rotary position embedding. */
  #getHeads(name: string, input: Vector, count: number, position: number): Vector {
    const all = this.#projected(name, input, count * headSize);
    for (let head = 0; head < count; head += 1) {
      const one = all.subarray(head * headSize, (head + 1) * headSize);
      if (this.#model.kind.architecture === "qwen3") one.set(this.#normalized(one, `${name}_norm`));
      rotate(one, position, this.#model.kind.architecture === "llama" ? "neighbours" : "halves");
    }
    return all;
  }

  #feedForward(prefix: string, input: Vector): Vector {
    const gate = this.#product(`${prefix}ffn_gate`, input, inner);
    const up = this.#product(`${prefix}ffn_up`, input, inner);
    return this.#product(
      `${prefix}ffn_down`,
      up.map((each, index) => each * silu(gate[index] ?? 0)),
      width,
    );
  }

  #projected(name: string, input: Vector, outputs: number): Vector {
    const product = this.#product(name, input, outputs);
    const bias = this.#model.weights.get(`${name}.bias`);
    return bias === undefined ? product : product.map((each, index) => each + (bias[index] ?? 0));
  }

  #product(name: string, input: Vector, outputs: number): Vector {
    const weights = this.#weights(`${name}.weight`);
    const product = new Float64Array(outputs);
    for (let row = 0, at = 0; row < outputs; row += 1) {
      let total = 0;
      for (let element = 0; element < input.length; element += 1, at += 1)
        total += (input[element] as number) * (weights[at] as number);
      product[row] = total;
    }
    return product;
  }

  #normalized(input: Vector, name: string): Vector {
    const weights = this.#weights(`${name}.weight`);
    const scale = 1 / Math.sqrt(dot(input, input) / input.length + epsilon);
    return input.map((each, index) => each * scale * (weights[index] ?? 0));
  }

  #weights(name: string): Float32Array {
    return required(this.#model.weights.get(name), name);
  }
}

/** Applies rotary position embedding to one head. Rotated pairs are neighbouring elements, or element i of both halves. */
function rotate(head: Vector, position: number, pairs: "neighbours" | "halves"): void {
  const half = headSize / 2;
  for (let pair = 0; pair < half; pair += 1) {
    const [first, second] = pairs === "neighbours" ? [2 * pair, 2 * pair + 1] : [pair, pair + half];
    const angle = position * frequencyBase ** (-pair / half);
    const [x, y] = [head[first] ?? 0, head[second] ?? 0];
    head[first] = x * Math.cos(angle) - y * Math.sin(angle);
    head[second] = x * Math.sin(angle) + y * Math.cos(angle);
  }
}

function softmax(scores: readonly number[]): readonly number[] {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const total = powers.reduce((all, each) => all + each, 0);
  return powers.map((each) => each / total);
}

const silu = (x: number): number => x / (1 + Math.exp(-x));

function sum(a: Vector, b: Vector): Vector {
  return a.map((each, index) => each + (b[index] ?? 0));
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let total = 0;
  for (let index = 0; index < a.length; index += 1) total += (a[index] as number) * (b[index] as number);
  return total;
}

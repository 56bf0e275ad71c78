import { describe, expect, it } from "vitest";
import { KernelMemory, featureSets, randomNumbers } from "../../../../../test/engine/kernel-memory.ts";
import type { Activation } from "../../../ir/operations.ts";
import type { Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { v128 } from "../assembler/vector.ts";
import { defineKernel } from "../kernel.ts";
import { activate } from "./activation.ts";
import { emitErf } from "./error-function.ts";
import { clampedExp, exp, sigmoid } from "./exponential.ts";
import { tanh } from "./hyperbolic.ts";
import { log } from "./logarithm.ts";
import { cos, sin } from "./trigonometric.ts";

type Lanes = (f: FunctionBuilder, x: Local<"v128">) => V128;

/** The function over an array whose length is a multiple of four. */
function applied(lanes: Lanes, values: Float32Array, set: (typeof featureSets)[number]): Float32Array {
  const memory = new KernelMemory();
  const { offset, data } = memory.put(values);
  const kernel = defineKernel({
    family: "lanes",
    request: {},
    inputs: [],
    outputs: ["data"],
    pieces: values.length / 4,
    pieceNanoseconds: 1,
    emit: (f, { data: start }, from, to) =>
      f.range(from, to, 1, (index) => {
        const place = f.value(i32.add(start, i32.shl(index, i32.const(4))));
        f.run(v128.store(place, lanes(f, f.value(v128.load(place)))));
      }),
  });
  memory.run(kernel, [offset], 1, set);
  return data.slice();
}

/** The distance between two neighbouring floats at a value. */
function unit(value: number): number {
  return 2 ** Math.max(Math.floor(Math.log2(Math.abs(value))) - 23, -149);
}

function largestUnits(lanes: Lanes, exact: (x: number) => number, values: Float32Array): number {
  return Math.max(
    ...featureSets.map((set) => {
      const results = applied(lanes, values, set);
      return results.reduce((largest, result, index) => {
        const wanted = exact(values[index]!);
        const error = Math.fround(wanted) === result ? 0 : Math.abs(result - wanted) / unit(wanted);
        return Math.max(largest, Number.isNaN(error) ? Infinity : error);
      }, 0);
    }),
  );
}

/** Evenly between the borders, and as many with every exponent from 1e-30 up. */
function spread(min: number, max: number): Float32Array {
  const share = randomNumbers(40_000, 7);
  return Float32Array.from(share, (value, index) =>
    index % 2 === 0 ? min + value * (max - min) : (index % 4 === 1 ? min : max) * 10 ** (-30 * value),
  );
}

/** By its series, and by the continued fraction of erfc: 1e-15. */
function exactErf(x: number): number {
  if (Math.abs(x) > 3) {
    let fraction = 0;
    for (let k = 60; k > 0; k -= 1) fraction = k / 2 / (Math.abs(x) + fraction);
    return Math.sign(x) * (1 - Math.exp(-x * x) / (Math.sqrt(Math.PI) * (Math.abs(x) + fraction)));
  }
  let [sum, term] = [x, x];
  for (let k = 1; k < 80; k += 1) {
    term *= (-x * x) / k;
    sum += term / (2 * k + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

const exactSigmoid = (x: number) => 1 / (1 + Math.exp(-x));

describe("functions on four lanes, in units of the last place", () => {
  const cases: readonly [string, Lanes, (x: number) => number, Float32Array, number][] = [
    ["exp", exp, Math.exp, spread(-104, 89), 1.5],
    ["clampedExp", clampedExp, Math.exp, spread(-87, 88), 1.5],
    ["log", log, Math.log, spread(0, 3e38).map(Math.abs), 1.5],
    ["log near 1", log, Math.log, spread(-0.5, 1).map((x) => 1 + x), 1.5],
    ["tanh", tanh, Math.tanh, spread(-12, 12), 2],
    ["erf", emitErf, exactErf, spread(-5, 5), 7],
    ["sigmoid", sigmoid, exactSigmoid, spread(-87, 100), 3],
    ["sin", sin, Math.sin, spread(-1e6, 1e6), 1.5],
    ["cos", cos, Math.cos, spread(-1e6, 1e6), 1.5],
    ["sin of little", sin, Math.sin, spread(-7, 7), 1.5],
  ];
  it.each(cases)("%s", (_name, lanes, exact, values, bound) => {
    expect(largestUnits(lanes, exact, values)).toBeLessThan(bound);
  });
});

describe("the ends of the number line", () => {
  const ends = Float32Array.from([0, -0, Infinity, -Infinity, NaN, 1e-45, -1e-45, 3e38]);
  it.each<[string, Lanes, (x: number) => number]>([
    ["exp", exp, Math.exp],
    ["log", log, Math.log],
    ["tanh", tanh, Math.tanh],
    ["erf", emitErf, (x) => (Math.abs(x) > 5 ? Math.sign(x) : (2 / Math.sqrt(Math.PI)) * x)],
  ])("%s", (_name, lanes, exact) => {
    for (const set of featureSets)
      applied(lanes, ends, set).forEach((value, index) => {
        const wanted = Math.fround(exact(ends[index]!));
        expect(Number.isNaN(value)).toBe(Number.isNaN(wanted));
        expect(Number.isNaN(wanted) ? 0 : value).toBeCloseTo(Number.isNaN(wanted) ? 0 : wanted, 5);
      });
  });

  it("keeps NaN through every activation", () => {
    for (const activation of ["relu", "gelu", "gelu-tanh", "tanh", "sigmoid", "silu"] as const)
      expect(applied((f, x) => activate(f, activation, x), Float32Array.of(NaN, 1, NaN, 2), featureSets[0]!)[0]).toBeNaN();
  });
});

describe("activations", () => {
  const exact: Readonly<Record<Activation, (x: number) => number>> = {
    none: (x) => x,
    relu: (x) => Math.max(x, 0),
    gelu: (x) => (x / 2) * (1 + exactErf(x * Math.SQRT1_2)),
    "gelu-tanh": (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
    tanh: Math.tanh,
    sigmoid: exactSigmoid,
    silu: (x) => x * exactSigmoid(x),
  };
  it.each(Object.keys(exact) as Activation[])("%s", (activation) => {
    const values = spread(-30, 30);
    for (const set of featureSets) {
      const results = applied((f, x) => activate(f, activation, x), values, set);
      const errors = results.map((result, index) => {
        const wanted = exact[activation](values[index]!);
        return Math.abs(result - wanted) / (Math.max(Math.abs(values[index]!), Math.abs(wanted)) + 1e-30);
      });
      expect(Math.max(...errors)).toBeLessThan(4e-7);
    }
  });
});

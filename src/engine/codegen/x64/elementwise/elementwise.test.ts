import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { features, randomNumbers } from "../../../../../test/engine/kernel-memory.ts";
import { openLevel, runBoth } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import { elementwise } from "../../wasm/kernels/elementwise/elementwise.ts";
import { type ElementwiseRequest, type ElementwiseType, laneBytes } from "../../wasm/kernels/elementwise/request.ts";
import { functionTables } from "../../wasm/kernels/elementwise/support.ts";
import { generateMachineKernels } from "../index.ts";
import { machineElementwise } from "./elementwise.ts";

const special = [0, -0, 1, -1, 0.5, 2.5, -1.5, Number.NaN, Infinity, -Infinity, 1e-40, 3e9, -3e9, 88.5, -104, 2 ** 31, 1e-3, 4.1];

/** Elements of a type: every special number, then random ones. */
function elements(type: ElementwiseType, count: number, seed: number) {
  const random = randomNumbers(count, seed);
  const numbers = Array.from(
    random,
    (value, index) => special[(index * 7 + seed * 3) % (3 * special.length)] ?? (value - 0.5) * 20,
  );
  switch (type) {
    case "float32":
      return Float32Array.from(numbers);
    case "int32":
    case "uint32":
      return Int32Array.from(random, (value, index) => (index % 3 === 0 ? value * 2 ** 32 : value * 40 - 20) | 0);
    case "float16":
      return Uint16Array.from(random, (value) => value * 2 ** 16);
    case "int16":
    case "uint16":
      return Uint16Array.from(random, (value) => value * 2 ** 16);
    case "bool":
      return Uint8Array.from(random, (value) => (value < 0.5 ? 0 : value < 0.8 ? 1 : 7));
    case "int8":
    case "uint8":
      return Uint8Array.from(random, (value) => value * 256);
    case "int64":
    case "float64":
      throw new TypeError(`elements of ${type} are not tested`);
  }
}

/** Elements as numbers to be compared; NaN has many forms. */
function numbers(type: ElementwiseType, bytes: Uint8Array): unknown {
  if (type === "float32") return new Float32Array(bytes.slice().buffer);
  if (type !== "float16") return bytes;
  return new Uint16Array(bytes.slice().buffer).map((bits) => ((bits & 0x7fff) > 0x7c00 ? 0x7e00 : bits));
}

/** Expects the bits of WebAssembly. Returns "same", "left" where there is no machine code, or why this machine has none. */
function expectSame(request: ElementwiseRequest, level: "AVX2" | "AVX-512", calls = 3): string {
  const machineCode = openLevel(level);
  if (typeof machineCode === "string") return machineCode;
  const kernel = elementwise(request);
  if (generateMachineKernels([kernel], machineCode).length === 0) return "left";
  const count = request.shape.reduce((all, size) => all * size, 1);
  const inputs = Object.fromEntries(request.inputs.map(({ type }, index) => [`input${index}`, elements(type, count, index + 1)]));
  const output = new Uint8Array(count * laneBytes[request.output]);
  const { wasm, machine } = runBoth(kernel, { ...inputs, output }, machineCode, { calls });
  for (const each of machine) expect(numbers(request.output, each), kernel.key).toEqual(numbers(request.output, wasm));
  return "same";
}

const float = { type: "float32" } as const;
/** Functions that call the host for each lane, or compute in float64. */
const left = new Set([
  "tan",
  "asin",
  "acos",
  "atan",
  "sinh",
  "cosh",
  "asinh",
  "acosh",
  "atanh",
  "log1p",
  "remainder",
  "mod",
  "pow",
  "sin",
  "cos",
]);
const twoOperands =
  /^(?:add|sub|mul|div|min|max|equal|not-equal|less|less-or-equal|greater|greater-or-equal|pow|mod|remainder|and|or|xor|bitwise-(?:and|or|xor)|shift-.*)$/;

describe.each(["AVX2", "AVX-512"] as const)("elementwise chains in machine code with %s", (level) => {
  it("have the bits of WebAssembly's for every function", ({ skip }) => {
    const reason = openLevel(level);
    if (typeof reason === "string") return skip(reason);
    skip(!features.relaxedSimd, "WebAssembly has no fused multiply-add");
    for (const type of ["float32", "int32", "uint32"] as const)
      for (const op of Object.keys(functionTables[type])) {
        const isBinary = twoOperands.test(op);
        const step = { op, of: isBinary ? [0, 1] : [0] } as ElementwiseRequest["steps"][number];
        const isBool = /^(?:not-)?equal$|^less|^greater/.test(op);
        const steps = isBool ? [step, { op: "cast", of: [2], to: type } as const] : [step];
        const request = { shape: [75], inputs: isBinary ? [{ type }, { type }] : [{ type }], steps, output: type };
        const found = expectSame(request, level);
        const isLeft = type === "float32" ? left.has(op) : found === "left";
        expect(found, op).toBe(isLeft ? "left" : "same");
      }
  });

  it("have them for a comparison that is a number first, and chooses when its operands are gone", ({ skip }) => {
    const reason = openLevel(level);
    if (typeof reason === "string") return skip(reason);
    const steps: ElementwiseRequest["steps"] = [
      { op: "abs", of: [0] },
      { op: "less", of: [2, 1] },
      { op: "cast", of: [3], to: "float32" },
      { op: "floor", of: [4] },
      { op: "select", of: [3, 1, 5] },
    ];
    expect(expectSame({ shape: [50], inputs: [float, float], steps, output: "float32" }, level)).toBe("same");
  });

  it("have them for casts and choices, and for every type in memory", ({ skip }) => {
    const reason = openLevel(level);
    if (typeof reason === "string") return skip(reason);
    const narrow = ["float16", "int8", "uint8", "int16", "uint16", "bool"] as const;
    for (const type of ["int32", "float32", ...narrow] as const) {
      for (const to of ["float32", "int32", "bool", ...narrow] as const) {
        const found = expectSame({ shape: [3, 29], inputs: [{ type }], steps: [{ op: "cast", of: [0], to }], output: to }, level);
        const isNarrow = [type, to].some((each) => (narrow as readonly string[]).includes(each));
        expect(found, `${type} to ${to}`).toBe(isNarrow && level === "AVX2" ? "left" : "same");
      }
    }
    const choose = (of: readonly [number, number, number]): ElementwiseRequest => ({
      shape: [50],
      inputs: [float, float],
      steps: [
        { op: "less", of: [0, 1] },
        { op: "constant", type: "float32", value: 3 },
        { op: "select", of: [2, of[1], of[2]] },
        { op: "cast", of: [2], to: "float32" },
        { op: "add", of: [4, 5] },
      ],
      output: "float32",
    });
    for (const of of [
      [2, 0, 1],
      [2, 3, 1],
      [2, 0, 3],
      [2, 3, 3],
    ] as const)
      expect(expectSame(choose(of), level)).toBe("same");
  });

  it("have them for rows, repeated elements, and any division into calls", ({ skip }) => {
    const reason = openLevel(level);
    if (typeof reason === "string") return skip(reason);
    skip(!features.relaxedSimd, "WebAssembly has no fused multiply-add");
    const size = (max: number) => fc.integer({ min: 1, max });
    const shapes = fc.tuple(size(4), size(5), fc.oneof(size(40), fc.constant(2500)));
    const keeps = fc.array(fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(shapes, keeps, size(5), (shape, kept, calls) => {
        const inputs = kept.map((axes) => {
          let stride = 1;
          const strides = [...shape.entries()].toReversed().map(([axis, each]) => {
            const own = axes[axis] === true ? stride : 0;
            if (axes[axis] === true) stride *= each;
            return own;
          });
          return { type: "float32", strides: strides.toReversed() } as const;
        });
        const steps = [
          { op: "add", of: [0, 1] },
          { op: "silu", of: [3] },
          { op: "mul", of: [4, 2] },
          { op: "max", of: [5, 3] },
        ] as const;
        expect(expectSame({ shape, inputs, steps, output: "float32" }, level, calls)).toBe("same");
      }),
      { numRuns: amount(2000, 15) },
    );
  });

  it("leaves chains to WebAssembly that need more registers than there are", () => {
    const steps = Array.from({ length: 40 }, (_, index) => ({ op: "add", of: [index, 0] }) as const);
    const sums = Array.from(
      { length: 40 },
      (_, index) => ({ op: "mul", of: [index === 0 ? 40 : 40 + index, 40 - index] }) as const,
    );
    const loops = { outer: [], strides: [1, 1], blockElements: 1024, inputs: [float], output: "float32" as const };
    expect(machineElementwise({ ...loops, steps: [...steps, ...sums] }, level)).toBeUndefined();
    expect(machineElementwise({ ...loops, steps }, level)).toBeDefined();
  });
});

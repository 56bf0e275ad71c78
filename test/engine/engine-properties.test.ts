/** Programs nobody thought of: compiled kernels and every pass give what the reference interpreter gives. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseGraph } from "../../src/engine/ir/parse.ts";
import { printGraph } from "../../src/engine/ir/print.ts";
import { verify } from "../../src/engine/ir/verify.ts";
import { runPasses, passes } from "../../src/engine/passes/index.ts";
import { fuseElementwise } from "../../src/engine/passes/fuse-elementwise.ts";
import { randomNumbers } from "./kernel-memory.ts";
import { amount } from "../fixtures/slow.ts";
import { randomGraph } from "./fixtures/random-graph.ts";
import { compiled, expectSame, interpreted, type Results } from "./fixtures/run-graph.ts";

const programs = fc
  .array(fc.integer({ min: 0, max: 2 ** 20 }), { minLength: 12, maxLength: 240, size: "max" })
  .map(randomGraph)
  .map((made) => ({ ...made, [fc.toStringMethod]: () => printGraph(made.graph) }));
/** More are drawn with RUNS=5000 in the environment. */
const runs = Number(process.env["RUNS"] ?? amount(150, 30));

/** A program that fails is made smaller for so long; a slow machine looks at fewer. */
const settings = { numRuns: runs, interruptAfterTimeLimit: 60_000 };

describe("random programs", () => {
  it("are sound, and the same when printed and parsed", () => {
    fc.assert(
      fc.property(programs, ({ graph }) => {
        const text = printGraph(graph, { maxElements: Number.POSITIVE_INFINITY });
        const again = parseGraph(text);
        expect(verify(graph)).toEqual([]);
        expect(verify(again)).toEqual([]);
        expect(printGraph(again, { maxElements: Number.POSITIVE_INFINITY })).toBe(text);
        expect(again.nodes.map(({ operation }) => operation)).toEqual(graph.nodes.map(({ operation }) => operation));
      }),
      settings,
    );
  });

  it("are computed by compiled kernels as by the interpreter", () => {
    fc.assert(
      fc.property(programs, ({ graph, inputs, tolerances }) => {
        expectSame(compiled(fuseElementwise(graph), inputs), interpreted(graph, inputs), tolerances);
      }),
      settings,
    );
  });

  it("are computed alike after the passes of every level", () => {
    const levels = fc.constantFrom("disabled", "basic", "extended", "all", "all", "all");
    fc.assert(
      fc.property(programs, levels, ({ graph, inputs, tolerances }, level) => {
        expectSame(compiled(runPasses(graph, { level }), inputs), interpreted(graph, inputs), tolerances);
      }),
      settings,
    );
  });

  it("multiply quantised numbers exactly, whatever the range of activations and weights", () => {
    const size = (max: number) => fc.integer({ min: 1, max });
    const cases = fc.record({
      m: size(9),
      half: size(40),
      n: size(20),
      seed: fc.nat(999),
      max: fc.constantFrom(30, 64, 65, 127),
    });
    fc.assert(
      fc.property(cases, fc.constantFrom(1, 5), fc.nat(255), ({ m, half, n, seed, max }, spread, zero) => {
        const k = half * 2;
        const draw = (count: number, from: number, by: number) =>
          Float32Array.from(
            randomNumbers(count, from),
            (value) => Math.sign(value - 0.5) * Math.abs(value * 2 - 1) ** spread * by,
          );
        const weights = draw(k * n, seed, max).map(Math.round);
        const graph = parseGraph(
          [
            `input x: float32[${m},${k}]\ninput scale: float32[]\ninput zero: uint8[]`,
            `constant w: int32[${k},${n}] = [${weights.join(", ")}]`,
            `constant c: float32[1] = [0.5]`,
            `q: int16[${m},${k}] = quantize(x, scale, zero)`,
            `s: int32[${m},${n}] = integer-matmul(q, w)`,
            `y: float32[${m},${n}] = integer-linear(q, w, scale, c) bias=false activation=none residual=none`,
            "r: float32[], z: uint8[] = quantization-range(x)",
            "output s = s\noutput y = y\noutput r = r\noutput z = z",
          ].join("\n"),
        );
        const inputs: Results = {
          x: { dataType: "float32", shape: [m, k], data: draw(m * k, seed + 1, 40) },
          scale: { dataType: "float32", shape: [], data: Float32Array.of(0.25) },
          zero: { dataType: "uint8", shape: [], data: Uint8Array.of(zero) },
        };
        expectSame(compiled(graph, inputs), interpreted(graph, inputs), {}); // scales are powers of two, so y is exact as well
      }),
      settings,
    );
  });

  it.each(Object.entries(passes))("keep their results in the pass %s", (_name, pass) => {
    fc.assert(
      fc.property(programs, ({ graph, inputs, tolerances }) => {
        const passed = pass(graph);
        expect(verify(passed)).toEqual([]);
        expectSame(interpreted(passed, inputs), interpreted(graph, inputs), tolerances);
      }),
      settings,
    );
  });
});
